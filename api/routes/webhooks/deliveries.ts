import { createRoute, z } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import {
  ListWebhookDeliveriesQuery,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryList,
} from '../../../contracts/webhook.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { getDelivery, listOwnedDeliveries, replayDelivery, testEndpoint } from '../../operations/webhook-deliveries.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import {
  DELIVERIES,
  DELIVERY,
  DeliveryParams,
  ENDPOINT,
  EndpointParams,
  endpointHolders,
  MAX_BODY_BYTES,
  tenantsOnly,
  WEBHOOK_ROUTE,
} from './paths.ts';

const listRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'list_webhook_deliveries',
  summary: 'List webhook deliveries, newest first',
  description: 'Kept for 30 days after their end. A key of one customer sees those of its own jobs’ webhooks.',
  method: 'get',
  path: DELIVERIES,
  middleware: tenantsOnly,
  request: { query: ListWebhookDeliveriesQuery },
  responses: { 200: jsonResponse(WebhookDeliveryList, 'A page of deliveries.'), ...errorResponses() },
});

const getRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'get_webhook_delivery',
  summary: 'A webhook delivery and its attempts',
  method: 'get',
  path: DELIVERY,
  middleware: tenantsOnly,
  request: { params: DeliveryParams },
  responses: { 200: jsonResponse(WebhookDeliveryDetail, 'The delivery.'), ...errorResponses(404) },
});

const replayRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'replay_webhook_delivery',
  summary: 'Send a webhook once more',
  description:
    'One that was delivered or given up: the same event id and the same bytes, tried for as long as the first time. ' +
    'That of a task for 24 hours after its end, and as long as the task’s content is kept.',
  method: 'post',
  path: `${DELIVERY}/replay`,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: DeliveryParams,
    headers: IdempotencyHeader,
    body: jsonBody(z.strictObject({}), { required: false }),
  },
  responses: { 202: jsonResponse(WebhookDelivery, 'On its way.'), ...errorResponses(404, 409, 410, 413, 415) },
});

const testRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'test_webhook_endpoint',
  summary: 'Send a test event to a webhook endpoint',
  description: 'An event of the type `webhook.test`, whatever types the endpoint takes; tried for five minutes.',
  method: 'post',
  path: `${ENDPOINT}/test`,
  middleware: [endpointHolders, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: EndpointParams,
    headers: IdempotencyHeader,
    body: jsonBody(z.strictObject({}), { required: false }),
  },
  responses: { 202: jsonResponse(WebhookDelivery, 'On its way.'), ...errorResponses(404, 409, 413, 415) },
});

export function registerDeliveries(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    const request = { principal: c.var.principal, query: c.req.valid('query') };
    return c.json(await listOwnedDeliveries(dependencies, request), 200);
  });
  app.openapi(getRoute, async (c) => {
    const { delivery_id: deliveryId } = c.req.valid('param');
    return c.json(await getDelivery(dependencies, { principal: c.var.principal, deliveryId }), 200);
  });
  app.openapi(replayRoute, async (c) => {
    const { delivery_id: deliveryId } = c.req.valid('param');
    const idempotency = idempotencyOf(c, dependencies.now());
    const answer = await replayDelivery(dependencies, { principal: c.var.principal, deliveryId, idempotency });
    return keptAnswer(c, answer, 202);
  });
  app.openapi(testRoute, async (c) => {
    const { endpoint_id: endpointId } = c.req.valid('param');
    const idempotency = idempotencyOf(c, dependencies.now());
    const answer = await testEndpoint(dependencies, { principal: c.var.principal, endpointId, idempotency });
    return keptAnswer(c, answer, 202);
  });
}
