import type pg from 'pg';
import { z } from 'zod';
import type {
  ListWebhookDeliveriesQuery,
  WebhookDeliveryDetail,
  WebhookDeliveryList,
} from '../../contracts/webhook.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { inTransaction } from '../../db/transaction.ts';
import { beginRun, type DeliveryRow, findDelivery, listAttempts, listDeliveries } from '../../db/webhook-deliveries.ts';
import { findEndpoint } from '../../db/webhook-endpoints.ts';
import { insertDelivery } from '../../db/webhook-outbox.ts';
import { lockEndpointSecret } from '../../db/webhook-secrets.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { isPollable } from '../../domain/task.ts';
import { TEST_EVENT_TYPE } from '../../domain/webhook-delivery.ts';
import { CursorId, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentAttempt, presentDelivery } from '../presentation/webhook.ts';
import { type KeptAnswer, once } from './once.ts';
import { tenantScope } from './owned-job.ts';
import { type EndpointRequest, endpointScope, noSuchEndpoint } from './webhook-endpoints.ts';

const LIST = 'webhook_deliveries';

type Dependencies = Pick<ApiDependencies, 'db' | 'now'>;

interface DeliveryRequest {
  readonly principal: Principal;
  readonly deliveryId: string;
}

function noSuchDelivery(): GatewayError {
  return new GatewayError('not_found', 'No such webhook delivery.');
}

/** With every attempt. Throws `not_found`. */
export async function getDelivery(
  { db }: Pick<Dependencies, 'db'>,
  { principal, deliveryId }: DeliveryRequest,
): Promise<WebhookDeliveryDetail> {
  const row = await findDelivery(db.pool, tenantScope(principal), deliveryId);
  if (row === null) throw noSuchDelivery();
  return { ...presentDelivery(row), tried: (await listAttempts(db.pool, deliveryId)).map(presentAttempt) };
}

/** To endpoints and webhooks of jobs that are the key's to see, newest first. */
export async function listOwnedDeliveries(
  { db }: Pick<Dependencies, 'db'>,
  { principal, query }: { readonly principal: Principal; readonly query: ListWebhookDeliveriesQuery },
): Promise<WebhookDeliveryList> {
  const position = decodeCursor(LIST, [z.int(), CursorId] as const, query.cursor);
  const filter = {
    endpointId: query.endpoint_id,
    state: query.status,
    eventType: query.event_type,
    subjectId: query.job_id,
  };
  const rows = await listDeliveries(db.pool, tenantScope(principal), filter, {
    after: position === null ? null : { createdAt: new Date(position[0]), deliveryId: position[1] },
    limit: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? page.at(-1) : undefined;
  return {
    data: page.map(presentDelivery),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [last.createdAt.getTime(), last.deliveryId]),
  };
}

/** Sends a delivery that is over once more, with the same id and bytes. Throws `not_found`, `conflict` or `content_deleted`. */
export async function replayDelivery(
  { db, now }: Dependencies,
  { principal, deliveryId, idempotency }: DeliveryRequest & { readonly idempotency: IdempotentRequest | null },
): Promise<KeptAnswer> {
  const scope = tenantScope(principal);
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const row = await findDelivery(client, scope, deliveryId, { lock: true });
      if (row === null) throw noSuchDelivery();
      const obstacle = findReplayObstacle(row, now());
      if (obstacle !== null) throw obstacle;
      await startReplay(client, row, { by: principal.keyId, now: now() });
      const begun = await findDelivery(client, scope, deliveryId);
      if (begun === null) throw noSuchDelivery();
      return { status: 202, body: JSON.stringify(presentDelivery(begun)) };
    }),
  );
}

/** Begins another run of a delivery whose row is locked, and that nothing keeps from it. */
export async function startReplay(
  client: pg.PoolClient,
  { deliveryId, tenantId, run }: DeliveryRow,
  { by, now }: { readonly by: string; readonly now: Date },
): Promise<void> {
  await beginRun(client, deliveryId, now);
  const entry = { act: 'webhook_delivery.replayed', actor: by, tenantId, subject: deliveryId } as const;
  await recordAudit(client, { ...entry, details: { run: run + 1 } });
}

/** Why a delivery cannot be sent once more, or null. */
export function findReplayObstacle(
  { state, endpointState, hasBody, taskEndedAt }: DeliveryRow,
  now: Date,
): GatewayError | null {
  if (!isPollable(taskEndedAt, now))
    return new GatewayError('conflict', 'Its task ended 24 hours ago or more: its webhook is not sent again by hand.');
  if (state === 'pending')
    return new GatewayError('conflict', 'The delivery is still being tried: next_attempt_at says when.');
  if (!hasBody)
    return new GatewayError('content_deleted', 'What it held was deleted with the content of what it is about.');
  if (endpointState === 'deleted') return new GatewayError('conflict', 'Its endpoint was deleted.');
  if (endpointState === 'disabled')
    return new GatewayError('conflict', 'Its endpoint is disabled. Enable it first: PATCH with {"disabled": false}.');
  return null;
}

/** Sends an event that says nothing, to see whether the receiver hears. Throws `not_found`, or `conflict` while disabled. */
export async function testEndpoint(
  { db, now }: Dependencies,
  { principal, endpointId, idempotency }: EndpointRequest & { readonly idempotency: IdempotentRequest | null },
): Promise<KeptAnswer> {
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const endpoint = await findEndpoint(client, endpointScope(principal), endpointId, { lock: true });
      const secret = endpoint === null ? null : await lockEndpointSecret(client, endpointId);
      if (endpoint === null || secret === null) throw noSuchEndpoint();
      if (endpoint.disabledAt !== null)
        throw new GatewayError(
          'conflict',
          'The endpoint is disabled. Enable it first: PATCH with {"disabled": false}.',
        );
      const { tenantId, projectId, eventTypes, giveUpAfterSeconds } = endpoint;
      const event = {
        eventId: newId('event'),
        type: TEST_EVENT_TYPE,
        tenantId,
        subjectId: null,
        data: { endpoint_id: endpointId },
        createdAt: now(),
      };
      const deliveryId = await insertDelivery(client, event, {
        secretId: secret.secretId,
        endpointId,
        url: null,
        eventTypes,
        giveUpAfterSeconds,
        projectId,
        customerId: null,
      });
      const made = await findDelivery(client, tenantScope(principal), deliveryId);
      if (made === null) throw new Error('an inserted delivery was not found');
      return { status: 202, body: JSON.stringify(presentDelivery(made)) };
    }),
  );
}
