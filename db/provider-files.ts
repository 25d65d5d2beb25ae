import type pg from 'pg';
import { type AttemptRow, listAttemptsWhere } from './attempts.ts';
import { jobIdOf } from './ids.ts';
import type { JobKey } from './job-rows.ts';
import { notHeld } from './legal-holds.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A job whose files are to be deleted at its providers. */
export interface DueJob {
  readonly key: JobKey;
  readonly jobId: string;
  readonly tenantId: string;
  /** After that day the providers have deleted them by themselves. */
  readonly retrievalDeadline: Date | null;
}

/** Those that are due and not held, the longest due first. */
export async function listDueJobs(db: Queryable, now: Date, limit: number): Promise<DueJob[]> {
  const { rows } = await db.query<JobKey & Omit<DueJob, 'key' | 'jobId'>>(
    `SELECT kind, job_id AS uuid, bucket, tenant_id AS "tenantId", retrieval_deadline AS "retrievalDeadline" FROM batch_jobs j
     WHERE provider_files_due_at <= $1 AND ${notHeld('j')} ORDER BY provider_files_due_at LIMIT $2`,
    [now, limit],
  );
  return rows.map(({ kind, uuid, bucket, ...row }) => {
    const key = { kind, uuid, bucket };
    return { key, jobId: jobIdOf(key), ...row };
  });
}

/** Attempts of a job whose provider may still have files of them, of which it was sent any. */
export async function listAttemptsWithFiles(db: Queryable, job: JobKey, limit: number): Promise<AttemptRow[]> {
  return listAttemptsWhere(
    db,
    job,
    `files_deleted_at IS NULL AND (provider_batch_id IS NOT NULL OR input_file_id IS NOT NULL)
     ORDER BY shard, attempt LIMIT $2`,
    [limit],
  );
}

export async function recordFilesDeleted(db: Queryable, job: JobKey, attempt: AttemptRow, now: Date): Promise<void> {
  await db.query(
    'UPDATE batch_provider_metadata SET files_deleted_at = $4 WHERE job_id = $1 AND shard = $2 AND attempt = $3',
    [job.uuid, attempt.shard, attempt.attempt, now],
  );
}

/** No provider has anything of the job any more. */
export async function endDeletion(db: Queryable, job: JobKey, now: Date): Promise<void> {
  await db.query(
    `UPDATE batch_jobs SET provider_files_deleted_at = coalesce(provider_files_deleted_at, $2), provider_files_due_at = NULL,
       provider_files_failures = 0
     WHERE job_id = $1`,
    [job.uuid, now],
  );
}

/** Answers how often in a row it has failed by now. */
export async function postponeDeletion(
  db: Queryable,
  job: JobKey,
  until: Date,
  { hasFailed }: { readonly hasFailed: boolean },
): Promise<number> {
  const { rows } = await db.query<{ failures: number }>(
    `UPDATE batch_jobs SET provider_files_due_at = $2, provider_files_failures = provider_files_failures + $3
     WHERE job_id = $1 AND provider_files_due_at IS NOT NULL RETURNING provider_files_failures AS failures`,
    [job.uuid, until, hasFailed ? 1 : 0],
  );
  return rows[0]?.failures ?? 0;
}
