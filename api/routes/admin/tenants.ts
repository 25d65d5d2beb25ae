import { createRoute } from '@hono/zod-openapi';
import { ChangeTenant, Tenant } from '../../../contracts/tenant.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { getTenant } from '../../operations/get-tenant.ts';
import { updateTenant } from '../../operations/update-tenant.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_tenant',
  summary: 'A tenant, with its settings',
  method: 'get',
  path: TENANT,
  middleware: adminsOnly,
  request: { params: TenantParams },
  responses: { 200: jsonResponse(Tenant, 'The tenant.'), ...errorResponses(404) },
});

const updateRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_update_tenant',
  summary: 'Change a tenant: what it may use, its time zone, its overage policy',
  description:
    'A field that is left out stays as it is; a list that is null allows all. Jobs that were accepted go on, and their ' +
    'money stays in the month it was held in, also after a change of the time zone.',
  method: 'patch',
  path: TENANT,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: TenantParams, body: jsonBody(ChangeTenant, { required: true }) },
  responses: { 200: jsonResponse(Tenant, 'The tenant as it is now.'), ...errorResponses(404, 413, 415) },
});

export function registerAdminTenants(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(getRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await getTenant(dependencies, { tenantId }), 200);
  });
  app.openapi(updateRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await updateTenant(dependencies, { tenantId, change: c.req.valid('json') }), 200);
  });
}
