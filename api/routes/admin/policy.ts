import { createRoute } from '@hono/zod-openapi';
import { ChangePolicy, TenantPolicy } from '../../../contracts/tenant-policy.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { changePolicy, getPolicy } from '../../operations/tenant-policy.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const POLICY = `${TENANT}/policy`;

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_policy',
  summary: 'What a tenant is allowed, and how its content is kept',
  method: 'get',
  path: POLICY,
  middleware: adminsOnly,
  request: { params: TenantParams },
  responses: { 200: jsonResponse(TenantPolicy, 'The policy, and its defaults.'), ...errorResponses(404) },
});

const updateRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_update_policy',
  summary: 'Change a tenant’s policy',
  description: 'A member that is left out stays as it is. Times are in milliseconds.',
  method: 'patch',
  path: POLICY,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: TenantParams, body: jsonBody(ChangePolicy, { required: true }) },
  responses: { 200: jsonResponse(TenantPolicy, 'The policy as it is now.'), ...errorResponses(404, 413, 415) },
});

export function registerAdminPolicy(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(getRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await getPolicy(dependencies, { tenantId }), 200);
  });
  app.openapi(updateRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    const request = { principal: c.var.principal, tenantId, change: c.req.valid('json') };
    return c.json(await changePolicy(dependencies, request), 200);
  });
}
