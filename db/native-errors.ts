import type pg from 'pg';
import { keptErrors } from '../domain/provider-words.ts';
import type { JobKey, JobRow } from './job-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

interface AttemptKey {
  readonly shard: number;
  readonly attempt: number;
}

/** Kept once for each item of a refused shard, so no longer than it takes to tell what is wrong. */
const MAX_MESSAGE_CHARS = 500;

/** What the provider last said was wrong, for operators; of a job that keeps no content without the provider's words. */
export async function recordNativeErrors(
  db: Queryable,
  { key: job, terms }: Pick<JobRow, 'key' | 'terms'>,
  attempt: AttemptKey,
  errors: readonly unknown[],
): Promise<void> {
  await db.query(
    'UPDATE batch_provider_metadata SET native_errors = $4 WHERE job_id = $1 AND shard = $2 AND attempt = $3',
    [job.uuid, attempt.shard, attempt.attempt, JSON.stringify(keptErrors(terms.storage, errors))],
  );
}

/** The first of them as JSON text, its message cut; null when nothing was wrong. */
export async function readNativeError(db: Queryable, job: JobKey, attempt: AttemptKey): Promise<string | null> {
  const { rows } = await db.query<{ error: string | null }>(
    `SELECT (error || jsonb_build_object('message', left(error ->> 'message', ${MAX_MESSAGE_CHARS})))::text AS error
     FROM (
       SELECT native_errors -> 0 AS error FROM batch_provider_metadata
       WHERE job_id = $1 AND shard = $2 AND attempt = $3
     ) first`,
    [job.uuid, attempt.shard, attempt.attempt],
  );
  return rows[0]?.error ?? null;
}
