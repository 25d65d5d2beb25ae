import type pg from 'pg';
import { giveUpAfterMs, takesEvent } from '../domain/webhook-delivery.ts';
import { fromUuid, newId } from './ids.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Seals bytes for one place; `Cipher.seal`. */
export type Seal = (plain: Uint8Array, context: string) => Promise<Buffer>;

/** What the deliveries of an event carry where that is content: it lies sealed, and goes when the job's content goes. */
export interface DeliveredContent {
  readonly data: unknown;
  /** The uuid of the job whose content it is. */
  readonly jobUuid: string;
  readonly seal: Seal;
}

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
  /** The public id of what it is about; absent where that is the batch job. */
  readonly subjectId?: string;
  readonly content?: DeliveredContent;
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

/** One index probe each for a tenant without endpoints, a job without a webhook, and what is no batch of documents. */
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
  WHERE d.subject_id = $3
  UNION ALL
  SELECT w.secret_id, NULL, w.url, NULL, NULL, w.project_id, w.customer_id
  FROM document_batches b
  JOIN document_webhooks w ON w.tenant_id = b.tenant_id AND coalesce(w.customer_id, '') = coalesce(b.customer_id, '')
    AND w.batch_name = b.name AND (w.project_id IS NULL OR w.project_id = b.project_id)
  WHERE b.batch_id = $3`;

/**
 * Writes the deliveries of an event, one for each receiver that takes it. They are there exactly when the event is, since
 * both are written by one transaction: nothing has to find out later which events were not yet seen.
 */
export async function enqueueDeliveries(client: Queryable, event: OutboxEvent): Promise<void> {
  const subjectId = event.subjectId ?? (event.jobId === null ? null : fromUuid('job', event.jobId));
  const { rows } = await client.query<Receiver>(SELECT_RECEIVERS, [
    event.tenantId,
    event.jobId,
    subjectId,
    event.projectId,
  ]);
  for (const receiver of rows.filter(({ eventTypes }) => takesEvent(eventTypes, event.type)))
    await insertDelivery(client, { ...event, subjectId }, receiver);
}

/** What the body of a delivery is sealed for. */
export function deliveryContext(deliveryId: string): string {
  return `webhook_deliveries/${deliveryId}`;
}

/** The id of a new delivery, whose bytes are made here once for all its attempts. */
export async function insertDelivery(
  client: Queryable,
  event: Pick<OutboxEvent, 'eventId' | 'type' | 'tenantId' | 'data' | 'createdAt' | 'content'> & {
    readonly subjectId: string | null;
  },
  receiver: Receiver,
): Promise<string> {
  const deliveryId = newId('webhookDelivery');
  const { content } = event;
  const data = content === undefined ? event.data : content.data;
  const body = JSON.stringify({ type: event.type, timestamp: event.createdAt.toISOString(), data });
  const sealed = content === undefined ? null : await content.seal(Buffer.from(body), deliveryContext(deliveryId));
  await client.query(
    `INSERT INTO webhook_deliveries (delivery_id, event_id, event_type, subject_id, tenant_id, project_id, customer_id,
       endpoint_id, url, secret_id, receiver, body, sealed_body, content_of, give_up_after_ms, next_attempt_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16)`,
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
      content === undefined ? body : null,
      sealed,
      content?.jobUuid ?? null,
      giveUpAfterMs(event.type, receiver.giveUpAfterSeconds),
      event.createdAt,
    ],
  );
  return deliveryId;
}
