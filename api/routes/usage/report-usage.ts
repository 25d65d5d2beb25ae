import { createRoute } from '@hono/zod-openapi';
import { UsageQuery, UsageReport } from '../../../contracts/usage-record.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { requireRole, TENANT_ROLES } from '../../middleware/require-role.ts';
import { reportUsage } from '../../operations/report-usage.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { USAGE_ROUTE } from './paths.ts';

const route = createRoute({
  ...USAGE_ROUTE,
  operationId: 'report_usage',
  summary: 'Settled usage of all jobs, in records or in sums',
  method: 'get',
  path: '/v1/usage',
  middleware: requireRole(TENANT_ROLES),
  request: { query: UsageQuery },
  responses: { 200: jsonResponse(UsageReport, 'Records, or sums by group.'), ...errorResponses() },
});

export function registerReportUsage(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const request = { principal: c.var.principal, query: c.req.valid('query') };
    return c.json(await reportUsage(dependencies, request), 200);
  });
}
