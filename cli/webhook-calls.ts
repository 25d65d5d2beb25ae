import { randomUUID } from 'node:crypto';
import {
  type CreateWebhookEndpoint,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointMade,
  WebhookSecretRotated,
} from '../contracts/webhook.ts';
import type { Client, Query } from './client.ts';

const WEBHOOKS = '/v1/webhooks';

/** The calls about webhooks, by what they do. */
export function webhookCalls(client: Client) {
  const post = () => ({ json: {}, idempotencyKey: randomUUID() });
  const path = (id: string) => `${WEBHOOKS}/${encodeURIComponent(id)}`;
  return {
    listWebhooks: (query: Query) => client.get(WEBHOOKS, WebhookEndpointList, query),
    addWebhook: (endpoint: CreateWebhookEndpoint) =>
      client.send('POST', WEBHOOKS, WebhookEndpointMade, { ...post(), json: endpoint }),
    getWebhook: (endpointId: string) => client.get(path(endpointId), WebhookEndpoint),
    removeWebhook: (endpointId: string) => client.delete(path(endpointId)),
    rotateWebhook: (endpointId: string) =>
      client.send('POST', `${path(endpointId)}/rotate-secret`, WebhookSecretRotated, post()),
    rotateJobSecret: () => client.send('POST', `${WEBHOOKS}/job-secret/rotate`, WebhookSecretRotated, post()),
    testWebhook: (endpointId: string) => client.send('POST', `${path(endpointId)}/test`, WebhookDelivery, post()),
    listDeliveries: (query: Query) => client.get(`${WEBHOOKS}/deliveries`, WebhookDeliveryList, query),
    replayWebhook: (deliveryId: string) =>
      client.send('POST', `${WEBHOOKS}/deliveries/${encodeURIComponent(deliveryId)}/replay`, WebhookDelivery, post()),
  };
}
