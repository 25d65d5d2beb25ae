import { createRoute } from '@hono/zod-openapi';
import { JobUsageExport, JobUsageQuery, UsageCsv, UsageLines } from '../../../contracts/usage-record.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { exportUsagePage, openUsageStream } from '../../operations/export-usage.ts';
import { streamText } from '../../respond.ts';
import { errorResponses } from '../../responses.ts';
import { streamHeaders, usageFormat } from '../../usage-format.ts';
import { usageText } from '../../usage-lines.ts';
import { JOB, JOB_ROUTE, JobParams, usageReaders } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'export_usage',
  summary: 'What a job used, for billing systems',
  description: 'JSON comes in pages; NDJSON, CSV and FOCUS are streams of all records.',
  method: 'get',
  path: `${JOB}/usage`,
  middleware: usageReaders,
  request: { params: JobParams, query: JobUsageQuery },
  responses: {
    200: {
      description: 'Cost records.',
      content: {
        'application/json': { schema: JobUsageExport },
        'application/x-ndjson': { schema: UsageLines },
        'text/csv': { schema: UsageCsv },
      },
    },
    ...errorResponses(404),
  },
});

export function registerExportUsage(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const query = c.req.valid('query');
    const request = { principal: c.var.principal, jobId: c.req.valid('param').job_id, query };
    const format = usageFormat(c, query.format);
    if (format === 'json') return c.json(await exportUsagePage(dependencies, request), 200);
    const entries = await openUsageStream(dependencies, request);
    const text = usageText(entries, format, query.level);
    return streamText(c, text, streamHeaders(format, `${request.jobId}-usage-${query.level}`));
  });
}
