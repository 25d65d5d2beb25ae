import { createRoute } from '@hono/zod-openapi';
import { UsageCsv, UsageLines, UsageQuery, UsageReport } from '../../../contracts/usage-record.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';
import { exportGroups, openReportStream, reportUsage } from '../../operations/report-usage.ts';
import { streamText } from '../../respond.ts';
import { errorResponses } from '../../responses.ts';
import { streamHeaders, usageFormat } from '../../usage-format.ts';
import { groupCsv, groupNdjson, usageText } from '../../usage-lines.ts';
import { USAGE_ROUTE } from './paths.ts';

const route = createRoute({
  ...USAGE_ROUTE,
  operationId: 'report_usage',
  summary: 'Settled usage of all jobs, in records or in sums',
  description:
    'JSON comes in pages; NDJSON, CSV and FOCUS are one stream of all records, whose header `Usage-Next-Since` is what ' +
    '`next_since` is in JSON.',
  method: 'get',
  path: '/v1/usage',
  middleware: allow({ roles: TENANT_ROLES, scope: 'usage:read' }),
  request: { query: UsageQuery },
  responses: {
    200: {
      description: 'Records, or sums by group.',
      content: {
        'application/json': { schema: UsageReport },
        'application/x-ndjson': { schema: UsageLines },
        'text/csv': { schema: UsageCsv },
      },
    },
    ...errorResponses(),
  },
});

export function registerReportUsage(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const query = c.req.valid('query');
    const request = { principal: c.var.principal, query };
    const format = usageFormat(c, query.format);
    if (format === 'json') return c.json(await reportUsage(dependencies, request), 200);
    if (query.group_by !== undefined) {
      const { groups, nextSince } = await exportGroups(dependencies, request);
      const text = format === 'ndjson' ? groupNdjson(groups) : groupCsv(groups, query.group_by);
      return streamText(c, text, { ...streamHeaders(format, 'usage-sums'), ...sinceHeader(nextSince) });
    }
    const { pieces, nextSince } = await openReportStream(dependencies, request);
    const text = usageText(pieces, format, query.level);
    return streamText(c, text, { ...streamHeaders(format, `usage-${query.level}`), ...sinceHeader(nextSince) });
  });
}

/** A stream has no place of its own for it. */
function sinceHeader(nextSince: string | null): Record<string, string> {
  return nextSince === null ? {} : { 'Usage-Next-Since': nextSince };
}
