import { createRoute, z } from '@hono/zod-openapi';
import { ApiKey, ApiKeyList, CreateGatewayKey, NewApiKey, RotateKey } from '../../../contracts/api-key.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { createGatewayKey } from '../../operations/create-key.ts';
import { endKey, rotateKey } from '../../operations/end-key.ts';
import { getKey, listKeys } from '../../operations/list-keys.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, GatewayKeyParams, MAX_BODY_BYTES, ROTATION } from './paths.ts';

const KEYS = '/v1/admin/keys';
const KEY = `${KEYS}/{key_id}`;
const GATEWAY = { tenantId: null };

const addRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_create_gateway_key',
  summary: 'Make a key for those who run the gateway',
  description: 'The answer shows the key, this once.',
  method: 'post',
  path: KEYS,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(CreateGatewayKey, { required: true }) },
  responses: { 201: jsonResponse(NewApiKey, 'The key.'), ...errorResponses(409, 413, 415) },
});

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_gateway_keys',
  summary: 'The keys of those who run the gateway, without their secrets',
  method: 'get',
  path: KEYS,
  middleware: adminsOnly,
  request: { query: z.strictObject(PageQuery) },
  responses: { 200: jsonResponse(ApiKeyList, 'The keys, oldest first.'), ...errorResponses() },
});

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_gateway_key',
  summary: 'A key of those who run the gateway, without its secret',
  method: 'get',
  path: KEY,
  middleware: adminsOnly,
  request: { params: GatewayKeyParams },
  responses: { 200: jsonResponse(ApiKey, 'The key.'), ...errorResponses(404) },
});

const rotateRoute = createRoute({
  ...ADMIN_ROUTE,
  ...ROTATION,
  operationId: 'admin_rotate_gateway_key',
  method: 'post',
  path: `${KEY}/rotate`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: GatewayKeyParams, headers: IdempotencyHeader, body: jsonBody(RotateKey, { required: false }) },
  responses: { 201: jsonResponse(NewApiKey, 'The new key.'), ...errorResponses(404, 409, 413, 415) },
});

const revokeRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_revoke_gateway_key',
  summary: 'End a key at once',
  description:
    'The last key with all rights of a `gateway_admin` cannot be revoked, nor one that would leave only keys that end sooner.',
  method: 'post',
  path: `${KEY}/revoke`,
  middleware: adminsOnly,
  request: { params: GatewayKeyParams },
  responses: { 200: jsonResponse(ApiKey, 'The key, revoked.'), ...errorResponses(404, 409) },
});

export function registerAdminGatewayKeys(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(addRoute, async (c) => {
    const answer = await createGatewayKey(dependencies, {
      principal: c.var.principal,
      wanted: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(listRoute, async (c) => {
    return c.json(await listKeys(dependencies, { ...GATEWAY, ...c.req.valid('query') }), 200);
  });
  app.openapi(getRoute, async (c) => {
    return c.json(await getKey(dependencies, { ...GATEWAY, keyId: c.req.valid('param').key_id }), 200);
  });
  app.openapi(rotateRoute, async (c) => {
    const answer = await rotateKey(dependencies, {
      ...GATEWAY,
      principal: c.var.principal,
      keyId: c.req.valid('param').key_id,
      rotation: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(revokeRoute, async (c) => {
    const request = { ...GATEWAY, principal: c.var.principal, keyId: c.req.valid('param').key_id };
    return c.json(await endKey(dependencies, request), 200);
  });
}
