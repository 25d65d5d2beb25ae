import { createRoute, z } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import { ChangeTenant, CreateTenant, Tenant, TenantList } from '../../../contracts/tenant.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { createTenant, listAllTenants } from '../../operations/create-tenant.ts';
import { getTenant } from '../../operations/get-tenant.ts';
import { updateTenant } from '../../operations/update-tenant.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, TENANT, TENANTS, TenantParams } from './paths.ts';

const addRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_create_tenant',
  summary: 'Make a tenant',
  description: 'It has no key yet, and nothing that limits what it spends: see its `keys` and `budgets`.',
  method: 'post',
  path: TENANTS,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(CreateTenant, { required: true }) },
  responses: { 201: jsonResponse(Tenant, 'The tenant.'), ...errorResponses(409, 413, 415) },
});

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_tenants',
  summary: 'All tenants, by id',
  method: 'get',
  path: TENANTS,
  middleware: adminsOnly,
  request: { query: z.strictObject(PageQuery) },
  responses: { 200: jsonResponse(TenantList, 'The tenants.'), ...errorResponses() },
});

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
  summary: 'Change a tenant: its name, what it may use, its time zone, its overage policy',
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
    const request = { principal: c.var.principal, tenantId, change: c.req.valid('json') };
    return c.json(await updateTenant(dependencies, request), 200);
  });
  app.openapi(addRoute, async (c) => {
    const answer = await createTenant(dependencies, {
      principal: c.var.principal,
      tenant: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(listRoute, async (c) => c.json(await listAllTenants(dependencies, c.req.valid('query')), 200));
}
