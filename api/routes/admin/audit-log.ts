import { createRoute } from '@hono/zod-openapi';
import { AuditLog, AuditQuery } from '../../../contracts/audit-log.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { listAuditLog } from '../../operations/list-audit.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly } from './paths.ts';

const route = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_audit_log',
  summary: 'Who did what, newest first',
  description: 'Every act of admins and operators, and what tenants submit, cancel, retry, delete and export.',
  method: 'get',
  path: '/v1/admin/audit-log',
  middleware: adminsOnly,
  request: { query: AuditQuery },
  responses: { 200: jsonResponse(AuditLog, 'The entries.'), ...errorResponses() },
});

export function registerAdminAuditLog(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => c.json(await listAuditLog(dependencies, c.req.valid('query')), 200));
}
