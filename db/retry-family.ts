import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A job and those that retry its items, and theirs in turn, the given one first. Columns of equal length, as queries take them. */
export interface RetryFamily {
  readonly jobs: readonly string[];
  /** The uuid of the job it retries items of; null for the oldest. */
  readonly parents: readonly (string | null)[];
  readonly buckets: readonly number[];
  readonly manifests: readonly number[];
}

/** The jobs behind a job: those that retry items of it. */
export async function findRetryJobs(db: Queryable, uuid: string): Promise<RetryFamily> {
  return readFamily(
    db,
    `WITH RECURSIVE family AS (
       SELECT job_id, retry_of, bucket, manifest_no FROM batch_jobs WHERE job_id = $1
       UNION ALL
       SELECT j.job_id, j.retry_of, j.bucket, j.manifest_no FROM family f JOIN batch_jobs j ON j.retry_of = f.job_id
     )`,
    uuid,
  );
}

/** The same with the jobs before it: whose items it retries, and so on, and all that retry those. */
export async function findRetryFamily(db: Queryable, uuid: string): Promise<RetryFamily> {
  return readFamily(
    db,
    `WITH RECURSIVE older AS (
       SELECT job_id, retry_of FROM batch_jobs WHERE job_id = $1
       UNION ALL
       SELECT j.job_id, j.retry_of FROM older o JOIN batch_jobs j ON j.job_id = o.retry_of
     ),
     family AS (
       SELECT j.job_id, j.retry_of, j.bucket, j.manifest_no FROM batch_jobs j JOIN older o ON o.job_id = j.job_id AND o.retry_of IS NULL
       UNION ALL
       SELECT j.job_id, j.retry_of, j.bucket, j.manifest_no FROM family f JOIN batch_jobs j ON j.retry_of = f.job_id
     )`,
    uuid,
  );
}

async function readFamily(db: Queryable, family: string, uuid: string): Promise<RetryFamily> {
  const { rows } = await db.query<{ job_id: string; retry_of: string | null; bucket: number; manifest_no: number }>(
    `${family} SELECT job_id, retry_of, bucket, manifest_no FROM family`,
    [uuid],
  );
  return {
    jobs: rows.map((row) => row.job_id),
    parents: rows.map((row) => row.retry_of),
    buckets: rows.map((row) => row.bucket),
    manifests: rows.map((row) => row.manifest_no),
  };
}
