import type pg from 'pg';
import { recordAudit } from '../../db/audit-log.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  beginAttempt,
  changeDelivery,
  countInFlight,
  type LockedDelivery,
  lockDelivery,
  recordAttempt,
  recordWait,
} from '../../db/webhook-attempts.ts';
import { disableGoneEndpoint } from '../../db/webhook-endpoints.ts';
import { busyDelay, type DeliveryError, nextAttemptDelay } from '../../domain/webhook-delivery.ts';
import { cancellationSignal } from '../heartbeats.ts';
import type { DeliveryStep, WebhookActivities } from '../interfaces.ts';
import type { WebhookDependencies } from './dependencies.ts';
import { sendWebhook, type WebhookAnswer } from './send-webhook.ts';

/** Requests at once, of all workers: one receiver that hangs keeps no more of them, nor does one tenant. */
const MAX_TO_RECEIVER = 4;
const MAX_OF_TENANT = 16;
/** Added to the longest answer: an attempt that has not said by then how it ended was broken off. */
const BROKEN_OFF_MS = 15_000;

type Begun =
  | { readonly kind: 'step'; readonly step: DeliveryStep }
  | { readonly kind: 'send'; readonly delivery: LockedDelivery; readonly attempt: number; readonly giveUpAt: Date };

/**
 * One attempt of a delivery, as its row says: sends it, unless it is over or its receiver has enough to do, and says when to
 * come again. An attempt that ends between the receiver's answer and our noting it is sent once more, with the same id.
 */
export function createDeliverWebhook(dependencies: WebhookDependencies): WebhookActivities['deliverWebhook'] {
  const { db, now, log } = dependencies;
  return async ({ deliveryId }) => {
    const begun = await inTransaction(db, (client) => begin(dependencies, client, deliveryId));
    if (begun.kind === 'step') return begun.step;
    const { delivery, attempt, giveUpAt } = begun;
    const startedAt = performance.now();
    const answer = await sendWebhook(dependencies, delivery, attempt, cancellationSignal());
    const outcome = {
      run: delivery.run,
      attempt,
      durationMs: Math.round(performance.now() - startedAt),
      statusCode: answer.statusCode,
      error: answer.error,
    };
    const step = await inTransaction(db, async (client) => {
      await recordAttempt(client, deliveryId, outcome);
      const current = await lockDelivery(client, deliveryId, now());
      // Another attempt was faster, after a pause of this worker: what it noted stands.
      if (current === null || current.run !== delivery.run || current.attempts !== attempt) return stepOf(current);
      if (current.state !== 'pending') return stepOf(current);
      return settle(dependencies, client, { delivery: current, attempt, giveUpAt, answer });
    });
    const { tenantId, endpointId } = delivery;
    log.info({ deliveryId, tenantId, endpointId, ...outcome, ...step }, 'webhook sent');
    return step;
  };
}

async function begin(
  { now, random, answerMs }: WebhookDependencies,
  client: pg.PoolClient,
  deliveryId: string,
): Promise<Begun> {
  const at = now();
  const delivery = await lockDelivery(client, deliveryId, at);
  if (delivery === null || delivery.state !== 'pending') return { kind: 'step', step: stepOf(delivery) };
  const off = delivery.isDeleted ? 'endpoint_deleted' : delivery.isDisabled ? 'endpoint_disabled' : null;
  if (off !== null) return { kind: 'step', step: await abandon(client, delivery, off, at) };
  if (delivery.body === null && delivery.sealedBody === null)
    return { kind: 'step', step: await abandon(client, delivery, 'content_deleted', at) };
  const giveUpAt = delivery.giveUpAt ?? new Date(at.getTime() + delivery.giveUpAfterMs);
  const { toReceiver, ofTenant } = await countInFlight(client, delivery, at);
  if (toReceiver >= MAX_TO_RECEIVER || ofTenant >= MAX_OF_TENANT) {
    const remainingMs = giveUpAt.getTime() - at.getTime();
    const delayMs = busyDelay({ waits: delivery.waits, remainingMs, random01: random() });
    if (delayMs === null) return { kind: 'step', step: await abandon(client, delivery, 'endpoint_busy', at) };
    await recordWait(client, delivery, { nextAttemptAt: new Date(at.getTime() + delayMs), giveUpAt });
    return { kind: 'step', step: { kind: 'again', delayMs } };
  }
  const inFlightUntil = new Date(at.getTime() + answerMs + BROKEN_OFF_MS);
  await beginAttempt(client, delivery, { now: at, inFlightUntil, giveUpAt });
  return { kind: 'send', delivery, attempt: delivery.attempts + 1, giveUpAt };
}

interface Attempted {
  readonly delivery: LockedDelivery;
  readonly attempt: number;
  readonly giveUpAt: Date;
  readonly answer: WebhookAnswer;
}

async function settle(
  { now, random }: WebhookDependencies,
  client: pg.PoolClient,
  { delivery, attempt, giveUpAt, answer }: Attempted,
): Promise<DeliveryStep> {
  const at = now();
  const { deliveryId, endpointId, giveUpAfterMs } = delivery;
  const { statusCode, error, retryAfterMs } = answer;
  if (error === null) {
    const change = { state: 'delivered', statusCode, error, nextAttemptAt: null, endedAt: at } as const;
    await changeDelivery(client, deliveryId, change);
    return { kind: 'over', state: 'delivered' };
  }
  if (error === 'gone') {
    if (endpointId !== null) await disableGone(client, delivery, endpointId, at);
    return abandon(client, delivery, error, at, statusCode);
  }
  const remainingMs = giveUpAt.getTime() - at.getTime();
  const delayMs = nextAttemptDelay({ attempt, giveUpAfterMs, remainingMs, retryAfterMs, random01: random() });
  if (delayMs === null) return abandon(client, delivery, error, at, statusCode);
  const nextAttemptAt = new Date(at.getTime() + delayMs);
  await changeDelivery(client, deliveryId, { state: 'pending', statusCode, error, nextAttemptAt, endedAt: null });
  return { kind: 'again', delayMs };
}

async function disableGone(
  client: pg.PoolClient,
  { tenantId, deliveryId }: LockedDelivery,
  endpointId: string,
  at: Date,
): Promise<void> {
  if (!(await disableGoneEndpoint(client, endpointId, at))) return;
  const details = { disabled: 'gone', delivery_id: deliveryId };
  await recordAudit(client, {
    act: 'webhook_endpoint.changed',
    actor: 'gateway',
    tenantId,
    subject: endpointId,
    details,
  });
}

async function abandon(
  client: pg.PoolClient,
  { deliveryId }: LockedDelivery,
  error: DeliveryError,
  at: Date,
  statusCode: number | null = null,
): Promise<DeliveryStep> {
  await changeDelivery(client, deliveryId, {
    state: 'abandoned',
    statusCode,
    error,
    nextAttemptAt: null,
    endedAt: at,
  });
  return { kind: 'over', state: 'abandoned' };
}

/** What a row that somebody else has written says. */
function stepOf(delivery: Pick<LockedDelivery, 'state'> | null): DeliveryStep {
  if (delivery === null) return { kind: 'over', state: 'deleted' };
  return delivery.state === 'pending' ? { kind: 'again', delayMs: 1_000 } : { kind: 'over', state: delivery.state };
}
