import { createRoute, z } from '@hono/zod-openapi';
import { ChangeAllowList } from '../../../contracts/allow-list.ts';
import { ApiKey, ApiKeyList } from '../../../contracts/api-key.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { listKeys } from '../../operations/list-keys.ts';
import { updateKey } from '../../operations/update-key.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, KeyParams, MAX_BODY_BYTES, TENANT, TenantParams } from './paths.ts';

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_keys',
  summary: 'A tenant’s keys, without their secrets',
  method: 'get',
  path: `${TENANT}/keys`,
  middleware: adminsOnly,
  request: { params: TenantParams, query: z.strictObject(PageQuery) },
  responses: { 200: jsonResponse(ApiKeyList, 'The keys, oldest first.'), ...errorResponses(404) },
});

const updateRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_update_key',
  summary: 'Set which models and providers the jobs of a key may use',
  description: 'Within what the tenant may use. A field that is left out stays as it is; null allows all.',
  method: 'patch',
  path: `${TENANT}/keys/{key_id}`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: KeyParams, body: jsonBody(ChangeAllowList, { required: true }) },
  responses: { 200: jsonResponse(ApiKey, 'The key as it is now.'), ...errorResponses(404, 413, 415) },
});

export function registerAdminKeys(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await listKeys(dependencies, { tenantId, ...c.req.valid('query') }), 200);
  });
  app.openapi(updateRoute, async (c) => {
    const { tenant_id: tenantId, key_id: keyId } = c.req.valid('param');
    return c.json(await updateKey(dependencies, { tenantId, keyId, change: c.req.valid('json') }), 200);
  });
}
