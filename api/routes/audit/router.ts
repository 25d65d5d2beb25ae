import { createRoute } from '@hono/zod-openapi';
import { AuditLog, TenantAuditQuery } from '../../../contracts/audit-log.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { allow } from '../../middleware/allow.ts';
import { listTenantAudit } from '../../operations/list-audit.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';

const route = createRoute({
  tags: ['Audit log'],
  security: [{ bearer: [] }],
  operationId: 'list_audit_log',
  summary: 'Who did what in the tenant, newest first',
  description:
    'Of what those who run the gateway did, it shows what was done, when and to what; `actor` is `gateway` there, and there are ' +
    'no details.',
  method: 'get',
  path: '/v1/audit-log',
  middleware: allow({ roles: ['tenant_admin'], scope: 'audit:read' }),
  request: { query: TenantAuditQuery },
  responses: { 200: jsonResponse(AuditLog, 'The entries.'), ...errorResponses() },
});

/** `/v1/audit-log`: what concerns a tenant, for its admins. */
export function auditRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  app.openapi(route, async (c) => {
    const request = { principal: c.var.principal, query: c.req.valid('query') };
    return c.json(await listTenantAudit(dependencies, request), 200);
  });
  return app;
}
