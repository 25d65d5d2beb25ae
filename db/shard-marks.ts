import type pg from 'pg';
import type { AttemptRow } from './attempts.ts';
import type { JobKey } from './job-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/**
 * Marks the open shards among the given ones as given up, which is for good. Answers those that were not given up
 * before. The job's row must be locked.
 */
export async function markGivenUp(
  client: Queryable,
  job: Pick<JobKey, 'uuid'>,
  shards: readonly number[],
  at: Date,
): Promise<number[]> {
  const { rows } = await client.query<{ shard: number }>(
    `UPDATE batch_shards SET given_up_at = $3
     WHERE job_id = $1 AND shard = ANY($2) AND given_up_at IS NULL AND state NOT IN ('settled', 'superseded')
     RETURNING shard`,
    [job.uuid, shards, at],
  );
  return rows.map(({ shard }) => shard).sort((one, other) => one - other);
}

/** Asks a settled shard to read its results once more. The job's row must be locked. */
export async function requestReread(
  client: Queryable,
  job: Pick<JobKey, 'uuid'>,
  shards: readonly number[],
  at: Date,
): Promise<void> {
  await client.query(
    `UPDATE batch_shards SET reread_requested_at = $3 WHERE job_id = $1 AND shard = ANY($2) AND state = 'settled'`,
    [job.uuid, shards, at],
  );
}

/** The reading that was asked for is done, unless another was asked for since. */
export async function endReread(client: Queryable, job: JobKey, shard: number, requestedAt: Date): Promise<void> {
  await client.query(
    `UPDATE batch_shards SET reread_requested_at = NULL WHERE job_id = $1 AND shard = $2 AND reread_requested_at = $3`,
    [job.uuid, shard, requestedAt],
  );
}

/** A batch that may be the one of an unanswered create, as a look found it. */
export interface CandidateBatch {
  readonly provider_batch_id: string;
  readonly native_status: string;
  readonly created_at: string | null;
  readonly native_request_counts: Readonly<Record<string, unknown>> | null;
}

/** What the last look for an attempt's batch has found; null where there is nothing to choose from. */
export async function recordCandidates(
  client: Queryable,
  job: Pick<JobKey, 'uuid'>,
  attempt: Pick<AttemptRow, 'shard' | 'attempt'>,
  candidates: readonly CandidateBatch[] | null,
): Promise<void> {
  await client.query(
    'UPDATE batch_provider_metadata SET candidates = $4 WHERE job_id = $1 AND shard = $2 AND attempt = $3',
    [job.uuid, attempt.shard, attempt.attempt, candidates === null ? null : JSON.stringify(candidates)],
  );
}

/** Ids of what the last look for an attempt's batch has found. */
export async function listCandidates(
  db: Queryable,
  job: Pick<JobKey, 'uuid'>,
  attempt: Pick<AttemptRow, 'shard' | 'attempt'>,
): Promise<string[]> {
  const { rows } = await db.query<{ candidates: CandidateBatch[] | null }>(
    'SELECT candidates FROM batch_provider_metadata WHERE job_id = $1 AND shard = $2 AND attempt = $3',
    [job.uuid, attempt.shard, attempt.attempt],
  );
  return (rows[0]?.candidates ?? []).map(({ provider_batch_id: id }) => id);
}

/** Chooses the batch of an attempt by hand, null to take a choice back. The provider is asked before it counts. */
export async function chooseBatch(
  client: Queryable,
  job: Pick<JobKey, 'uuid'>,
  attempt: Pick<AttemptRow, 'shard' | 'attempt'>,
  providerBatchId: string | null,
): Promise<void> {
  await client.query(
    `UPDATE batch_provider_metadata SET chosen_batch_id = $4
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND closed_at IS NULL AND provider_batch_id IS NULL`,
    [job.uuid, attempt.shard, attempt.attempt, providerBatchId],
  );
}

/** Rules batches out for an attempt, and so for those that follow it. */
export async function disownCandidates(
  client: Queryable,
  job: Pick<JobKey, 'uuid'>,
  attempt: Pick<AttemptRow, 'shard' | 'attempt'>,
  providerBatchIds: readonly string[],
): Promise<void> {
  await client.query(
    `UPDATE batch_provider_metadata SET disowned_batch_ids = disowned_batch_ids || $4::text[], candidates = NULL, chosen_batch_id = NULL
     WHERE job_id = $1 AND shard = $2 AND attempt = $3`,
    [job.uuid, attempt.shard, attempt.attempt, providerBatchIds],
  );
}
