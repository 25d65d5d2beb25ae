import type pg from 'pg';
import type { DeliveryError, DeliveryState } from '../domain/webhook-delivery.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A delivery whose row is locked, with where it goes and what signs it. */
export interface LockedDelivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly tenantId: string;
  readonly endpointId: string | null;
  readonly url: string;
  readonly receiver: string;
  /** Null where it is sealed, or was deleted. */
  readonly body: string | null;
  /** Content; null where it is none, or was deleted. */
  readonly sealedBody: Buffer | null;
  readonly state: DeliveryState;
  readonly run: number;
  readonly attempts: number;
  readonly waits: number;
  readonly giveUpAfterMs: number;
  readonly giveUpAt: Date | null;
  readonly isDisabled: boolean;
  readonly isDeleted: boolean;
  readonly secretId: string;
  readonly sealed: Buffer;
  /** Null where it signs no more. */
  readonly previousSealed: Buffer | null;
}

/** Null for one that is gone. */
export async function lockDelivery(client: Queryable, deliveryId: string, now: Date): Promise<LockedDelivery | null> {
  const { rows } = await client.query<Omit<LockedDelivery, 'giveUpAfterMs'> & { readonly giveUpAfterMs: string }>(
    `SELECT d.delivery_id AS "deliveryId", d.event_id AS "eventId", d.tenant_id AS "tenantId", d.endpoint_id AS "endpointId",
       coalesce(d.url, e.url) AS url, d.receiver, d.body, d.sealed_body AS "sealedBody", d.state, d.run, d.attempts, d.waits,
       d.give_up_after_ms AS "giveUpAfterMs", d.give_up_at AS "giveUpAt",
       e.disabled_at IS NOT NULL AS "isDisabled", e.deleted_at IS NOT NULL AS "isDeleted", d.secret_id AS "secretId", s.sealed,
       CASE WHEN s.previous_until > $2 THEN s.previous_sealed END AS "previousSealed"
     FROM webhook_deliveries d
     JOIN webhook_secrets s ON s.secret_id = d.secret_id
     LEFT JOIN webhook_endpoints e ON e.endpoint_id = d.endpoint_id
     WHERE d.delivery_id = $1 FOR NO KEY UPDATE OF d`,
    [deliveryId, now],
  );
  const [row] = rows;
  return row === undefined ? null : { ...row, giveUpAfterMs: Number(row.giveUpAfterMs) };
}

/** Requests on their way to the same receiver, and those of the whole tenant; no other begins until the transaction ends. */
export async function countInFlight(
  client: Queryable,
  { deliveryId, tenantId, receiver }: LockedDelivery,
  now: Date,
): Promise<{ readonly toReceiver: number; readonly ofTenant: number }> {
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended('batchgate.webhooks ' || $1, 0))", [tenantId]);
  const { rows } = await client.query<{ toReceiver: number; ofTenant: number }>(
    `SELECT count(*) FILTER (WHERE receiver = $3)::int AS "toReceiver", count(*)::int AS "ofTenant"
     FROM webhook_deliveries WHERE tenant_id = $1 AND in_flight_until > $4 AND delivery_id <> $2`,
    [tenantId, deliveryId, receiver, now],
  );
  return rows[0] ?? { toReceiver: 0, ofTenant: 0 };
}

/** Notes that a request is about to be sent, which one that breaks off leaves as it is. */
export async function beginAttempt(
  client: Queryable,
  { deliveryId, run, attempts }: LockedDelivery,
  times: { readonly now: Date; readonly inFlightUntil: Date; readonly giveUpAt: Date },
): Promise<void> {
  await client.query(
    'UPDATE webhook_deliveries SET attempts = $2, in_flight_until = $3, give_up_at = $4 WHERE delivery_id = $1',
    [deliveryId, attempts + 1, times.inFlightUntil, times.giveUpAt],
  );
  await client.query('INSERT INTO webhook_attempts (delivery_id, run, attempt, started_at) VALUES ($1, $2, $3, $4)', [
    deliveryId,
    run,
    attempts + 1,
    times.now,
  ]);
}

/** The receiver has as many requests as it may: nothing is sent. */
export async function recordWait(
  client: Queryable,
  { deliveryId, waits }: LockedDelivery,
  times: { readonly nextAttemptAt: Date; readonly giveUpAt: Date },
): Promise<void> {
  await client.query(
    'UPDATE webhook_deliveries SET waits = $2, next_attempt_at = $3, give_up_at = $4 WHERE delivery_id = $1',
    [deliveryId, waits + 1, times.nextAttemptAt, times.giveUpAt],
  );
}

export interface AttemptOutcome {
  readonly run: number;
  readonly attempt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: DeliveryError | null;
}

/** The first word on an attempt stands. */
export async function recordAttempt(client: Queryable, deliveryId: string, outcome: AttemptOutcome): Promise<void> {
  await client.query(
    `UPDATE webhook_attempts SET duration_ms = $4, status_code = $5, error = $6
     WHERE delivery_id = $1 AND run = $2 AND attempt = $3 AND duration_ms IS NULL`,
    [deliveryId, outcome.run, outcome.attempt, outcome.durationMs, outcome.statusCode, outcome.error],
  );
}

/** What became of a delivery for now. */
export interface DeliveryChange {
  readonly state: DeliveryState;
  readonly statusCode: number | null;
  readonly error: DeliveryError | null;
  readonly nextAttemptAt: Date | null;
  readonly endedAt: Date | null;
}

/** Its row must be locked. */
export async function changeDelivery(client: Queryable, deliveryId: string, change: DeliveryChange): Promise<void> {
  await client.query(
    `UPDATE webhook_deliveries SET state = $2, status_code = $3, error = $4, next_attempt_at = $5, ended_at = $6, in_flight_until = NULL
     WHERE delivery_id = $1`,
    [deliveryId, change.state, change.statusCode, change.error, change.nextAttemptAt, change.endedAt],
  );
}
