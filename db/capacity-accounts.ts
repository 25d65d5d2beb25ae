import type pg from 'pg';
import type { QueueAccount, QueueUse } from '../domain/capacity.ts';
import type { Provider } from '../domain/provider.ts';
import type { AttemptRow } from './attempts.ts';
import type { JobKey } from './job-rows.ts';
import type { ShardRow } from './shards.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** Whose queue it is: providers count what is enqueued for each account and model. */
export interface AccountKey {
  readonly credentialId: string;
  readonly provider: Provider;
  readonly providerModel: string;
}

/** Finds one shard among all jobs'. */
export interface ShardKey {
  readonly jobUuid: string;
  readonly shard: number;
}

export interface AccountRow extends QueueAccount {
  /** The shard refused last with nothing else of the account in the queue. */
  readonly refusedShard: ShardKey | null;
  readonly refusedAlone: number;
}

/** Open attempts of the account that have room; an attempt's room is free again once its batch has ended. */
const IN_USE = `FROM batch_provider_metadata m JOIN batch_shards s ON s.job_id = m.job_id AND s.shard = m.shard
  WHERE m.credential_id = $1 AND m.provider = $2 AND s.provider_model = $3
    AND m.closed_at IS NULL AND m.ended_at IS NULL AND m.room_taken_at IS NOT NULL`;

export function accountOf(attempt: AttemptRow, shard: ShardRow): AccountKey {
  return { credentialId: attempt.credentialId, provider: attempt.provider, providerModel: shard.providerModel };
}

/**
 * Locks the account, which is made where it is missing, until the transaction ends: whoever decides by what is in use
 * decides after the one before. After the job's lock, and the last of a transaction.
 */
export async function lockAccount(client: pg.PoolClient, key: AccountKey): Promise<AccountRow> {
  await client.query(
    'INSERT INTO capacity_accounts (credential_id, provider, provider_model) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    values(key),
  );
  const { rows } = await client.query(`SELECT * FROM capacity_accounts WHERE ${IS_ACCOUNT} FOR UPDATE`, values(key));
  if (rows[0] === undefined) throw new Error('an account that was made is there');
  return toAccountRow(rows[0]);
}

/** Null for one that nothing was ever sent under. */
export async function findAccount(db: Queryable, key: AccountKey): Promise<AccountRow | null> {
  const { rows } = await db.query(`SELECT * FROM capacity_accounts WHERE ${IS_ACCOUNT}`, values(key));
  return rows[0] === undefined ? null : toAccountRow(rows[0]);
}

const IS_ACCOUNT = 'credential_id = $1 AND provider = $2 AND provider_model = $3';

/** What the account's shards but one hold of the queue. */
export async function readUse(db: Queryable, key: AccountKey, but: ShardKey): Promise<QueueUse> {
  const { rows } = await db.query<QueueUse>(
    `SELECT count(*)::int AS batches, coalesce(sum(m.item_count), 0)::float8 AS items,
       coalesce(sum(m.estimated_input_tokens), 0)::float8 AS "inputTokens",
       (count(*) FILTER (WHERE m.queued_at IS NULL))::int AS unproven
     ${IN_USE} AND (m.job_id, m.shard) <> ($4::uuid, $5::int)`,
    [...values(key), but.jobUuid, but.shard],
  );
  return rows[0] ?? { batches: 0, items: 0, inputTokens: 0, unproven: 0 };
}

/** The attempt keeps it, however often it is sent, until it gives it back. */
export async function takeRoom(client: Queryable, job: JobKey, attempt: AttemptRow, at: Date): Promise<void> {
  await client.query(
    `UPDATE batch_provider_metadata SET room_taken_at = $4
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND closed_at IS NULL`,
    [job.uuid, attempt.shard, attempt.attempt, at],
  );
}

/** For an attempt that is not at the provider and will ask for its turn again. */
export async function giveRoomBack(db: Queryable, job: JobKey, attempt: AttemptRow): Promise<void> {
  await db.query(
    `UPDATE batch_provider_metadata SET room_taken_at = NULL
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND create_started_at IS NULL`,
    [job.uuid, attempt.shard, attempt.attempt],
  );
}

/** Notes that the provider has taken the batch into its queue; true the first time. */
export async function recordQueued(client: Queryable, job: JobKey, attempt: AttemptRow, at: Date): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE batch_provider_metadata SET queued_at = $4
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND queued_at IS NULL`,
    [job.uuid, attempt.shard, attempt.attempt, at],
  );
  return rowCount === 1;
}

/** The queue is full from now on, or still. What the provider named last stands where it names nothing. */
export async function recordFull(
  client: Queryable,
  key: AccountKey,
  full: {
    at: Date;
    reason: string;
    limits: QueueAccount['limits'];
    probeAt: Date;
    refusedShard: ShardKey | null;
    refusedAlone: number;
  },
): Promise<void> {
  await client.query(
    `UPDATE capacity_accounts SET full_since = coalesce(full_since, $4), last_refused_at = $4, last_reason = $5,
       known_limit_tokens = coalesce($6, known_limit_tokens), known_limit_items = coalesce($7, known_limit_items),
       probe_at = $8, probe_job_id = $9, probe_shard = $10, refused_alone = $11
     WHERE ${IS_ACCOUNT}`,
    [
      ...values(key),
      full.at,
      full.reason,
      full.limits.inputTokens,
      full.limits.items,
      full.probeAt,
      full.refusedShard?.jobUuid ?? null,
      full.refusedShard?.shard ?? null,
      full.refusedAlone,
    ],
  );
}

/** Whoever waits for a full queue may try now; it is no longer called full once nobody waits for it. */
export async function openQueue(
  client: Queryable,
  key: AccountKey,
  { at, left, isAwaited }: { at: Date; left: boolean; isAwaited: boolean },
): Promise<void> {
  await client.query(
    `UPDATE capacity_accounts SET room_at = CASE WHEN $5 THEN $4 ELSE room_at END,
       probe_at = CASE WHEN $6 THEN $4 END, full_since = CASE WHEN $6 THEN full_since END, refused_alone = 0
     WHERE ${IS_ACCOUNT}`,
    [...values(key), at, left, isAwaited],
  );
}

function values({ credentialId, provider, providerModel }: AccountKey): [string, string, string] {
  return [credentialId, provider, providerModel];
}

function toAccountRow(row: Record<string, unknown>): AccountRow {
  const get = <Value>(column: string): Value => row[column] as Value;
  const number = (column: string): number | null => (get(column) === null ? null : Number(get(column)));
  const jobUuid = get<string | null>('probe_job_id');
  return {
    fullSince: get('full_since'),
    lastRefusedAt: get('last_refused_at'),
    probeAt: get('probe_at'),
    roomAt: get('room_at'),
    limits: { inputTokens: number('known_limit_tokens'), items: number('known_limit_items') },
    refusedShard: jobUuid === null ? null : { jobUuid, shard: get('probe_shard') },
    refusedAlone: get('refused_alone'),
  };
}
