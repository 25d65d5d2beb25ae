import type pg from 'pg';
import type { JobKind } from '../domain/job-kind.ts';
import type { AccountKey, ShardKey } from './capacity-accounts.ts';
import { jobIdOf } from './ids.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/**
 * Shards that wait for a reason given as `$4`, whose jobs are not being cancelled. One that is long past the time it
 * wanted to try again has nobody to act for it, and holds up nobody.
 */
const WAITING = `FROM batch_shards s
  JOIN batch_jobs j ON j.job_id = s.job_id AND j.price_mode = 'batch' AND j.cancel_requested_at IS NULL
  JOIN batch_provider_metadata m ON m.job_id = s.job_id AND m.shard = s.shard AND m.attempt = s.attempt
  WHERE m.credential_id = $1 AND s.provider = $2 AND s.state = 'waiting' AND s.waiting_reason = $4
    AND (s.next_poll_at IS NULL OR s.next_poll_at > $3::timestamptz - interval '10 minutes')`;
const SAME_MODEL = 'AND s.provider_model = $5';

/** When the shard's own timer ends, and whether no other has waited longer for room in the same queue. */
export async function readPlace(
  db: Queryable,
  account: AccountKey,
  own: ShardKey,
  at: Date,
): Promise<{ readonly isFirst: boolean; readonly triesAt: Date | null }> {
  const { rows } = await db.query<{ is_first: boolean; tries_at: Date | null }>(
    `SELECT own.next_poll_at AS tries_at, NOT EXISTS (
       SELECT 1 ${WAITING} ${SAME_MODEL} AND (s.waiting_since, s.job_id, s.shard) < (own.since, own.job_id, own.shard)
     ) AS is_first
     FROM (
       SELECT job_id, shard, next_poll_at, CASE WHEN waiting_reason = $4 THEN coalesce(waiting_since, $3) ELSE $3::timestamptz END AS since
       FROM batch_shards WHERE job_id = $6 AND shard = $7
     ) own`,
    [...waitingFor(account, at, 'provider_capacity'), account.providerModel, own.jobUuid, own.shard],
  );
  return { isFirst: rows[0]?.is_first ?? true, triesAt: rows[0]?.tries_at ?? null };
}

/** Of those that wait for room in the account's queue, the one that has waited longest; null when nobody does. */
export async function findFirstInQueue(
  db: Queryable,
  account: AccountKey,
  but: ShardKey,
  at: Date,
): Promise<WaitingShard | null> {
  return findFirst(db, SAME_MODEL, [...waitingFor(account, at, 'provider_capacity'), account.providerModel], but);
}

/** Of those that wait for the answer to another create under the credential. */
export async function findFirstToCreate(
  db: Queryable,
  account: AccountKey,
  but: ShardKey,
  at: Date,
): Promise<WaitingShard | null> {
  return findFirst(db, '', waitingFor(account, at, 'submission_turn'), but);
}

export interface WaitingShard {
  readonly jobId: string;
  readonly shard: number;
}

async function findFirst(
  db: Queryable,
  where: string,
  parameters: readonly unknown[],
  but: ShardKey,
): Promise<WaitingShard | null> {
  const [job, shard] = [`$${parameters.length + 1}::uuid`, `$${parameters.length + 2}::int`];
  const { rows } = await db.query<{ job_id: string; kind: JobKind; shard: number }>(
    `SELECT s.job_id, j.kind, s.shard ${WAITING} ${where} AND (s.job_id, s.shard) <> (${job}, ${shard})
     ORDER BY s.waiting_since, s.job_id, s.shard LIMIT 1`,
    [...parameters, but.jobUuid, but.shard],
  );
  const [row] = rows;
  return row === undefined ? null : { jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }), shard: row.shard };
}

function waitingFor(
  { credentialId, provider }: AccountKey,
  at: Date,
  reason: 'provider_capacity' | 'submission_turn',
): unknown[] {
  return [credentialId, provider, at, reason];
}
