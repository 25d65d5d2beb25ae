import { createRoute, z } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import {
  NewGatewayCredential,
  ProviderCredential,
  ProviderCredentialList,
  ReplaceCredential,
} from '../../../contracts/provider-credential.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import {
  addCredential,
  getCredential,
  listProviderCredentials,
  replaceCredential,
  revokeProviderCredential,
} from '../../operations/provider-credentials.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, GatewayCredentialParams, MAX_BODY_BYTES } from './paths.ts';

const CREDENTIALS = '/v1/admin/credentials';
const CREDENTIAL = `${CREDENTIALS}/{credential_id}` as const;

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_gateway_credentials',
  summary: 'The gateway’s own keys at providers, without the keys',
  method: 'get',
  path: CREDENTIALS,
  middleware: adminsOnly,
  request: { query: z.strictObject(PageQuery) },
  responses: { 200: jsonResponse(ProviderCredentialList, 'The credentials, oldest first.'), ...errorResponses() },
});

const addRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_add_gateway_credential',
  summary: 'Keep a key of a provider’s account for the gateway',
  description:
    'Batches made from now on go with it where neither the project nor the tenant has one of its own. It wins over the key ' +
    'of the environment. A batch stays with the credential it was sent with.',
  method: 'post',
  path: CREDENTIALS,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(NewGatewayCredential, { required: true }) },
  responses: {
    201: jsonResponse(ProviderCredential, 'The credential, without the key.'),
    ...errorResponses(404, 409, 413, 415, 422),
  },
});

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_gateway_credential',
  summary: 'One of the gateway’s credentials, without the key',
  method: 'get',
  path: CREDENTIAL,
  middleware: adminsOnly,
  request: { params: GatewayCredentialParams },
  responses: { 200: jsonResponse(ProviderCredential, 'The credential.'), ...errorResponses(404) },
});

const replaceRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_replace_gateway_credential',
  summary: 'Put another key of the same account in its place',
  description:
    'Batches that run go on with the new key, so it has to be of the same account. A credential that was revoked is in ' +
    'use again.',
  method: 'post',
  path: `${CREDENTIAL}/replace`,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: GatewayCredentialParams,
    headers: IdempotencyHeader,
    body: jsonBody(ReplaceCredential, { required: true }),
  },
  responses: {
    200: jsonResponse(ProviderCredential, 'The credential as it is now.'),
    ...errorResponses(404, 409, 413, 415, 422),
  },
});

const revokeRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_revoke_gateway_credential',
  summary: 'Revoke a credential',
  description:
    'The key is forgotten. New batches go with the credential that is next in line; those that run wait, as for a refused ' +
    'key, until it is replaced.',
  method: 'post',
  path: `${CREDENTIAL}/revoke`,
  middleware: adminsOnly,
  request: { params: GatewayCredentialParams },
  responses: { 200: jsonResponse(ProviderCredential, 'The credential, revoked.'), ...errorResponses(404) },
});

export function registerAdminGatewayCredentials(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    return c.json(await listProviderCredentials(dependencies, { tenantId: null, ...c.req.valid('query') }), 200);
  });
  app.openapi(addRoute, async (c) => {
    const answer = await addCredential(dependencies, {
      principal: c.var.principal,
      tenantId: null,
      credential: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(getRoute, async (c) => c.json(await getCredential(dependencies, toId(c.req.valid('param'))), 200));
  app.openapi(replaceRoute, async (c) => {
    const answer = await replaceCredential(dependencies, {
      principal: c.var.principal,
      id: toId(c.req.valid('param')),
      apiKey: c.req.valid('json').api_key,
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 200);
  });
  app.openapi(revokeRoute, async (c) => {
    const request = { principal: c.var.principal, id: toId(c.req.valid('param')) };
    return c.json(await revokeProviderCredential(dependencies, request), 200);
  });
}

function toId({ credential_id: credentialId }: z.output<typeof GatewayCredentialParams>) {
  return { tenantId: null, credentialId };
}
