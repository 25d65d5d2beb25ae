import type pg from 'pg';
import type { DeliveryError, DeliveryState } from '../domain/webhook-delivery.ts';
import { toUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export interface DeliveryRow {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly subjectId: string | null;
  readonly tenantId: string;
  readonly endpointId: string | null;
  readonly url: string;
  readonly state: DeliveryState;
  readonly run: number;
  readonly attempts: number;
  readonly statusCode: number | null;
  readonly error: DeliveryError | null;
  readonly nextAttemptAt: Date | null;
  readonly giveUpAt: Date | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  /** False where it held content that was deleted. */
  readonly hasBody: boolean;
  /** Of the task whose content it holds; null for any other. */
  readonly taskEndedAt: Date | null;
  /** What a replay would run into. */
  readonly endpointState: 'deleted' | 'disabled' | null;
}

export interface AttemptRow {
  readonly run: number;
  readonly attempt: number;
  readonly startedAt: Date;
  readonly durationMs: number | null;
  readonly statusCode: number | null;
  readonly error: DeliveryError | null;
}

export interface DeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly eventType?: string | undefined;
  readonly subjectId?: string | undefined;
}

const SELECT_DELIVERY = `
  SELECT d.delivery_id AS "deliveryId", d.event_id AS "eventId", d.event_type AS "eventType", d.subject_id AS "subjectId",
    d.tenant_id AS "tenantId", d.endpoint_id AS "endpointId", coalesce(d.url, e.url) AS url, d.state, d.run, d.attempts,
    d.status_code AS "statusCode", d.error, d.next_attempt_at AS "nextAttemptAt", d.give_up_at AS "giveUpAt",
    d.created_at AS "createdAt", d.ended_at AS "endedAt",
    d.body IS NOT NULL OR d.sealed_body IS NOT NULL AS "hasBody", a.completed_at AS "taskEndedAt",
    CASE WHEN e.deleted_at IS NOT NULL THEN 'deleted' WHEN e.disabled_at IS NOT NULL THEN 'disabled' END AS "endpointState"
  FROM webhook_deliveries d
  LEFT JOIN webhook_endpoints e ON e.endpoint_id = d.endpoint_id
  LEFT JOIN async_tasks a ON a.task_id = d.content_of`;

/** Null for one that is unknown, malformed or out of scope. */
export async function findDelivery(
  db: Queryable,
  scope: JobScope,
  deliveryId: string,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<DeliveryRow | null> {
  if (toUuid('webhookDelivery', deliveryId) === null) return null;
  const condition = scopeCondition(scope, 'd', 2);
  const { rows } = await db.query<DeliveryRow>(
    `${SELECT_DELIVERY} WHERE d.delivery_id = $1 AND ${condition.sql} ${lock ? 'FOR NO KEY UPDATE OF d' : ''}`,
    [deliveryId, ...condition.values],
  );
  return rows[0] ?? null;
}

/** Newest first. */
export async function listDeliveries(
  db: Queryable,
  scope: JobScope,
  filter: DeliveryFilter,
  page: { readonly after: { readonly createdAt: Date; readonly deliveryId: string } | null; readonly limit: number },
): Promise<DeliveryRow[]> {
  const condition = scopeCondition(scope, 'd', 1);
  const { rows } = await db.query<DeliveryRow>(
    `${SELECT_DELIVERY} WHERE ${condition.sql}
       AND ($4::text IS NULL OR d.endpoint_id = $4) AND ($5::text IS NULL OR d.state = $5)
       AND ($6::text IS NULL OR d.event_type = $6) AND ($7::text IS NULL OR d.subject_id = $7)
       AND ($8::timestamptz IS NULL OR (d.created_at, d.delivery_id) < ($8, $9))
     ORDER BY d.created_at DESC, d.delivery_id DESC LIMIT $10`,
    [
      ...condition.values,
      filter.endpointId ?? null,
      filter.state ?? null,
      filter.eventType ?? null,
      filter.subjectId ?? null,
      page.after?.createdAt ?? null,
      page.after?.deliveryId ?? null,
      page.limit,
    ],
  );
  return rows;
}

/** Of all runs, in their order; the last thousand. */
export async function listAttempts(db: Queryable, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await db.query<AttemptRow>(
    `SELECT run, attempt, started_at AS "startedAt", duration_ms AS "durationMs", status_code AS "statusCode", error
     FROM webhook_attempts WHERE delivery_id = $1 ORDER BY run DESC, attempt DESC LIMIT 1000`,
    [deliveryId],
  );
  return rows.reverse();
}

/** A run anew, of the same event and bytes. Its row must be locked, and not be pending. */
export async function beginRun(db: Queryable, deliveryId: string, now: Date): Promise<void> {
  await db.query(
    `UPDATE webhook_deliveries SET state = 'pending', run = run + 1, attempts = 0, waits = 0, give_up_at = NULL,
       next_attempt_at = $2, in_flight_until = NULL, dispatched_at = NULL, status_code = NULL, error = NULL, ended_at = NULL
     WHERE delivery_id = $1`,
    [deliveryId, now],
  );
}

/** A delivery that is to have a workflow. */
export interface StartableDelivery {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly eventType: string;
}

const STARTABLE = 'delivery_id AS "deliveryId", tenant_id AS "tenantId", event_type AS "eventType"';

/**
 * Takes deliveries that nobody has started yet, the oldest first, and notes that they are. By their state and never by a
 * number: transactions become visible in any order.
 */
export async function takeUndispatched(db: Queryable, now: Date, limit: number): Promise<StartableDelivery[]> {
  const { rows } = await db.query<StartableDelivery>(
    `UPDATE webhook_deliveries SET dispatched_at = $1
     WHERE delivery_id IN (
       SELECT delivery_id FROM webhook_deliveries WHERE state = 'pending' AND dispatched_at IS NULL
       ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING ${STARTABLE}`,
    [now, limit],
  );
  return rows;
}

/** Undoes the taking of deliveries whose workflows could not be started. */
export async function returnUndispatched(db: Queryable, deliveryIds: readonly string[]): Promise<void> {
  await db.query(
    "UPDATE webhook_deliveries SET dispatched_at = NULL WHERE delivery_id = ANY($1) AND state = 'pending' AND attempts = 0",
    [deliveryIds],
  );
}

/** Pending deliveries whose next attempt was due before the given time: any of them, where there are more than the limit. */
export async function listOverdue(db: Queryable, dueBefore: Date, limit: number): Promise<StartableDelivery[]> {
  const { rows } = await db.query<StartableDelivery>(
    `SELECT ${STARTABLE} FROM webhook_deliveries
     WHERE state = 'pending' AND next_attempt_at < $1 AND (in_flight_until IS NULL OR in_flight_until < $1)
     ORDER BY random() LIMIT $2`,
    [dueBefore, limit],
  );
  return rows;
}

export async function markDispatched(db: Queryable, deliveryId: string, now: Date): Promise<void> {
  await db.query('UPDATE webhook_deliveries SET dispatched_at = $2 WHERE delivery_id = $1', [deliveryId, now]);
}

const PURGE_AT_ONCE = 10_000;

/** Deletes deliveries that ended before the given time, with their attempts; returns how many. */
export async function purgeDeliveries(db: Queryable, endedBefore: Date): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM webhook_deliveries WHERE delivery_id IN (
       SELECT delivery_id FROM webhook_deliveries WHERE ended_at < $1 ORDER BY ended_at LIMIT $2)`,
    [endedBefore, PURGE_AT_ONCE],
  );
  return rowCount ?? 0;
}
