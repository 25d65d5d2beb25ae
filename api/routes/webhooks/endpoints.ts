import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import {
  CreateWebhookEndpoint,
  ListWebhookEndpointsQuery,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointMade,
} from '../../../contracts/webhook.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import {
  changeEndpoint,
  createEndpoint,
  getEndpoint,
  listOwnedEndpoints,
  removeEndpoint,
} from '../../operations/webhook-endpoints.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ENDPOINT, EndpointParams, endpointHolders, MAX_BODY_BYTES, WEBHOOK_ROUTE, WEBHOOKS } from './paths.ts';

const createEndpointRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'create_webhook_endpoint',
  summary: 'Have events told to a URL',
  description: 'The answer holds the secret that calls are verified with; it is not shown again.',
  method: 'post',
  path: WEBHOOKS,
  middleware: [endpointHolders, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(CreateWebhookEndpoint, { required: true }) },
  responses: {
    201: jsonResponse(WebhookEndpointMade, 'The endpoint and its secret.'),
    ...errorResponses(404, 409, 413, 415, 422),
  },
});

const listRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'list_webhook_endpoints',
  summary: 'List webhook endpoints, newest first',
  method: 'get',
  path: WEBHOOKS,
  middleware: endpointHolders,
  request: { query: ListWebhookEndpointsQuery },
  responses: { 200: jsonResponse(WebhookEndpointList, 'A page of endpoints.'), ...errorResponses() },
});

const getRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'get_webhook_endpoint',
  summary: 'A webhook endpoint',
  method: 'get',
  path: ENDPOINT,
  middleware: endpointHolders,
  request: { params: EndpointParams },
  responses: { 200: jsonResponse(WebhookEndpoint, 'The endpoint.'), ...errorResponses(404) },
});

const updateRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'update_webhook_endpoint',
  summary: 'Change, disable or enable a webhook endpoint',
  description: 'While it is disabled nothing is sent: what is under way is given up and may be replayed later.',
  method: 'patch',
  path: ENDPOINT,
  middleware: [endpointHolders, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: EndpointParams, body: jsonBody(UpdateWebhookEndpoint, { required: true }) },
  responses: { 200: jsonResponse(WebhookEndpoint, 'The endpoint as it is now.'), ...errorResponses(404, 413, 415) },
});

const deleteRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'delete_webhook_endpoint',
  summary: 'Delete a webhook endpoint',
  description: 'Nothing is sent to it any more. Its deliveries stay to be looked at.',
  method: 'delete',
  path: ENDPOINT,
  middleware: endpointHolders,
  request: { params: EndpointParams },
  responses: { 204: { description: 'Deleted.' }, ...errorResponses(404) },
});

export function registerEndpoints(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(createEndpointRoute, async (c) => {
    const idempotency = idempotencyOf(c, dependencies.now());
    const request = { principal: c.var.principal, endpoint: c.req.valid('json'), idempotency };
    return keptAnswer(c, await createEndpoint(dependencies, request), 201);
  });
  app.openapi(listRoute, async (c) => {
    const request = { principal: c.var.principal, query: c.req.valid('query') };
    return c.json(await listOwnedEndpoints(dependencies, request), 200);
  });
  app.openapi(getRoute, async (c) => {
    const { endpoint_id: endpointId } = c.req.valid('param');
    return c.json(await getEndpoint(dependencies, { principal: c.var.principal, endpointId }), 200);
  });
  app.openapi(updateRoute, async (c) => {
    const { endpoint_id: endpointId } = c.req.valid('param');
    const request = { principal: c.var.principal, endpointId, change: c.req.valid('json') };
    return c.json(await changeEndpoint(dependencies, request), 200);
  });
  app.openapi(deleteRoute, async (c) => {
    const { endpoint_id: endpointId } = c.req.valid('param');
    await removeEndpoint(dependencies, { principal: c.var.principal, endpointId });
    return c.body(null, 204);
  });
}
