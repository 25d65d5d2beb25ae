import { createRoute } from '@hono/zod-openapi';
import { AliasesSet, SetAliases, TenantAliases } from '../../../contracts/model-alias.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { getAliases } from '../../operations/get-aliases.ts';
import { replaceAliases } from '../../operations/set-aliases.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_aliases',
  summary: 'A tenant’s own names for models',
  method: 'get',
  path: `${TENANT}/aliases`,
  middleware: adminsOnly,
  request: { params: TenantParams },
  responses: { 200: jsonResponse(TenantAliases, 'The aliases.'), ...errorResponses(404) },
});

const setRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_set_aliases',
  summary: 'Replace all of a tenant’s aliases',
  description:
    'Jobs that were accepted keep the target they were given. Targets that no job can be given are warned of.',
  method: 'put',
  path: `${TENANT}/aliases`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: TenantParams, body: jsonBody(SetAliases, { required: true }) },
  responses: { 200: jsonResponse(AliasesSet, 'The aliases as they are now.'), ...errorResponses(404, 413, 415) },
});

export function registerAdminAliases(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(getRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await getAliases(dependencies, { tenantId }), 200);
  });
  app.openapi(setRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    const request = { principal: c.var.principal, tenantId, ...c.req.valid('json') };
    return c.json(await replaceAliases(dependencies, request), 200);
  });
}
