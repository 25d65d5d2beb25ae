import { z } from '@hono/zod-openapi';
import { WebhookDeliveryId, WebhookEndpointId } from '../../../contracts/webhook.ts';
import { allow, TENANT_ROLES } from '../../middleware/allow.ts';

export const WEBHOOKS = '/v1/webhooks';
export const ENDPOINT = `${WEBHOOKS}/{endpoint_id}`;
export const JOB_SECRET = `${WEBHOOKS}/job-secret`;
export const DELIVERIES = `${WEBHOOKS}/deliveries`;
export const DELIVERY = `${DELIVERIES}/{delivery_id}`;

export const EndpointParams = z.object({ endpoint_id: WebhookEndpointId });
export const DeliveryParams = z.object({ delivery_id: WebhookDeliveryId });

export const WEBHOOK_ROUTE = { tags: ['Webhooks'], security: [{ bearer: [] }] };

const SCOPE = { read: 'webhooks:read', write: 'webhooks:write' } as const;

/** What concerns endpoints: a key of one customer has none. */
export const endpointHolders = allow({ roles: ['tenant_admin', 'project'], scope: SCOPE });
export const tenantsOnly = allow({ roles: TENANT_ROLES, scope: SCOPE });

export const MAX_BODY_BYTES = 64 * 1024;
