import type pg from 'pg';
import { giveUpAfterMs, takesEvent } from '../domain/webhook-delivery.ts';
import { fromUuid, newId } from './ids.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** An event that has just been written, in the transaction that goes on. */
export interface OutboxEvent {
  readonly eventId: string;
  readonly type: string;
  readonly tenantId: string;
  /** The job's uuid; null for what concerns no job. */
  readonly jobId: string | null;
  /** Of what concerns no job. */
  readonly projectId: string | null;
  readonly data: unknown;
  readonly createdAt: Date;
}

/** Someone to be told. */
export interface Receiver {
  readonly secretId: string;
  /** Null for one that has no endpoint, and then a URL. */
  readonly endpointId: string | null;
  readonly url: string | null;
  readonly eventTypes: readonly string[] | null;
  readonly giveUpAfterSeconds: number | null;
  /** Whose it is. */
  readonly projectId: string | null;
  readonly customerId: string | null;
}

/** One index probe each for a tenant without endpoints and a job without a webhook. */
const SELECT_RECEIVERS = `
  SELECT s.secret_id AS "secretId", e.endpoint_id AS "endpointId", NULL AS url, e.event_types AS "eventTypes",
    e.give_up_after_seconds AS "giveUpAfterSeconds", e.project_id AS "projectId", NULL AS "customerId"
  FROM webhook_endpoints e
  JOIN webhook_secrets s ON s.endpoint_id = e.endpoint_id
  WHERE e.tenant_id = $1 AND e.deleted_at IS NULL AND e.disabled_at IS NULL
    AND (e.project_id IS NULL OR e.project_id = coalesce($4, (SELECT j.project_id FROM batch_jobs j WHERE j.job_id = $2)))
  UNION ALL
  SELECT d.secret_id, NULL, d.url, d.event_types, NULL, s.project_id, s.customer_id
  FROM direct_webhooks d
  JOIN webhook_secrets s ON s.secret_id = d.secret_id
  WHERE d.subject_id = $3`;

/**
 * Writes the deliveries of an event, one for each receiver that takes it. They are there exactly when the event is, since
 * both are written by one transaction: nothing has to find out later which events were not yet seen.
 */
export async function enqueueDeliveries(client: Queryable, event: OutboxEvent): Promise<void> {
  const subjectId = event.jobId === null ? null : fromUuid('job', event.jobId);
  const { rows } = await client.query<Receiver>(SELECT_RECEIVERS, [
    event.tenantId,
    event.jobId,
    subjectId,
    event.projectId,
  ]);
  for (const receiver of rows.filter(({ eventTypes }) => takesEvent(eventTypes, event.type)))
    await insertDelivery(client, { ...event, subjectId }, receiver);
}

/** The id of a new delivery, whose bytes are made here once for all its attempts. */
export async function insertDelivery(
  client: Queryable,
  event: Pick<OutboxEvent, 'eventId' | 'type' | 'tenantId' | 'data' | 'createdAt'> & {
    readonly subjectId: string | null;
  },
  receiver: Receiver,
): Promise<string> {
  const deliveryId = newId('webhookDelivery');
  const body = JSON.stringify({ type: event.type, timestamp: event.createdAt.toISOString(), data: event.data });
  await client.query(
    `INSERT INTO webhook_deliveries (delivery_id, event_id, event_type, subject_id, tenant_id, project_id, customer_id,
       endpoint_id, url, secret_id, receiver, body, give_up_after_ms, next_attempt_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)`,
    [
      deliveryId,
      event.eventId,
      event.type,
      event.subjectId,
      event.tenantId,
      receiver.projectId,
      receiver.customerId,
      receiver.endpointId,
      receiver.url,
      receiver.secretId,
      receiver.endpointId ?? new URL(receiver.url ?? '').origin,
      body,
      giveUpAfterMs(event.type, receiver.giveUpAfterSeconds),
      event.createdAt,
    ],
  );
  return deliveryId;
}
