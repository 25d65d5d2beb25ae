import { createRoute, z } from '@hono/zod-openapi';
import { ChangeAllowList } from '../../../contracts/allow-list.ts';
import { ApiKey, ApiKeyList, CreateTenantKey, NewApiKey, RotateKey } from '../../../contracts/api-key.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { createTenantKey } from '../../operations/create-key.ts';
import { endKey, rotateKey } from '../../operations/end-key.ts';
import { getKey, listKeys } from '../../operations/list-keys.ts';
import { updateKey } from '../../operations/update-key.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, KeyParams, MAX_BODY_BYTES, ROTATION, TENANT, TenantParams } from './paths.ts';

const KEYS = `${TENANT}/keys`;
const KEY = `${KEYS}/{key_id}`;

const addRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_create_key',
  summary: 'Make a key of a tenant',
  description: 'The answer shows the key, this once.',
  method: 'post',
  path: KEYS,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: TenantParams,
    headers: IdempotencyHeader,
    body: jsonBody(CreateTenantKey, { required: true }),
  },
  responses: { 201: jsonResponse(NewApiKey, 'The key.'), ...errorResponses(404, 409, 413, 415) },
});

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_keys',
  summary: 'A tenant’s keys, without their secrets',
  method: 'get',
  path: KEYS,
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
  path: KEY,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: KeyParams, body: jsonBody(ChangeAllowList, { required: true }) },
  responses: { 200: jsonResponse(ApiKey, 'The key as it is now.'), ...errorResponses(404, 413, 415) },
});

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_key',
  summary: 'A key of a tenant, without its secret',
  method: 'get',
  path: KEY,
  middleware: adminsOnly,
  request: { params: KeyParams },
  responses: { 200: jsonResponse(ApiKey, 'The key.'), ...errorResponses(404) },
});

const rotateRoute = createRoute({
  ...ADMIN_ROUTE,
  ...ROTATION,
  operationId: 'admin_rotate_key',
  method: 'post',
  path: `${KEY}/rotate`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: KeyParams, headers: IdempotencyHeader, body: jsonBody(RotateKey, { required: false }) },
  responses: { 201: jsonResponse(NewApiKey, 'The new key.'), ...errorResponses(404, 409, 413, 415) },
});

const revokeRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_revoke_key',
  summary: 'End a key at once',
  description: 'Jobs made with it go on; schedules made with it make no more.',
  method: 'post',
  path: `${KEY}/revoke`,
  middleware: adminsOnly,
  request: { params: KeyParams },
  responses: { 200: jsonResponse(ApiKey, 'The key, revoked.'), ...errorResponses(404) },
});

export function registerAdminKeys(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await listKeys(dependencies, { tenantId, ...c.req.valid('query') }), 200);
  });
  app.openapi(updateRoute, async (c) => {
    const { tenant_id: tenantId, key_id: keyId } = c.req.valid('param');
    const request = { principal: c.var.principal, tenantId, keyId, change: c.req.valid('json') };
    return c.json(await updateKey(dependencies, request), 200);
  });
  app.openapi(addRoute, async (c) => {
    const answer = await createTenantKey(dependencies, {
      principal: c.var.principal,
      tenantId: c.req.valid('param').tenant_id,
      wanted: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(getRoute, async (c) => {
    const { tenant_id: tenantId, key_id: keyId } = c.req.valid('param');
    return c.json(await getKey(dependencies, { tenantId, keyId }), 200);
  });
  app.openapi(rotateRoute, async (c) => {
    const { tenant_id: tenantId, key_id: keyId } = c.req.valid('param');
    const rotation = c.req.valid('json');
    const idempotency = idempotencyOf(c, dependencies.now());
    const request = { principal: c.var.principal, tenantId, keyId, rotation, idempotency };
    return keptAnswer(c, await rotateKey(dependencies, request), 201);
  });
  app.openapi(revokeRoute, async (c) => {
    const { tenant_id: tenantId, key_id: keyId } = c.req.valid('param');
    return c.json(await endKey(dependencies, { principal: c.var.principal, tenantId, keyId }), 200);
  });
}
