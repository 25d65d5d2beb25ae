import type pg from 'pg';
import type { StoragePolicy } from '../domain/tenant-policy.ts';
import { jobIdOf } from './ids.ts';
import type { JobKey } from './job-rows.ts';
import { notHeld } from './legal-holds.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** As the index on it computes it. */
const DUE = `((completed_at AT TIME ZONE 'UTC') + content_retention_ms * interval '1 millisecond')`;
const IS_DUE = `content_deleted_at IS NULL AND content_retention_ms IS NOT NULL AND completed_at IS NOT NULL
  AND ${DUE} <= ($1::timestamptz AT TIME ZONE 'UTC')`;

/** Ended jobs whose content is due for deletion and not held, the longest due first. */
export async function listContentDue(db: Queryable, now: Date, limit: number): Promise<JobKey[]> {
  const { rows } = await db.query<JobKey>(
    `SELECT kind, job_id AS uuid, bucket FROM batch_jobs j WHERE ${IS_DUE} AND ${notHeld('j')} ORDER BY ${DUE} LIMIT $2`,
    [now, limit],
  );
  return rows;
}

/** A job of whose content something is still to be removed. */
export interface Removal {
  readonly key: JobKey;
  readonly jobId: string;
  readonly tenantId: string;
  readonly storage: StoragePolicy;
}

/** Those that are due and not held, the longest due first. */
export async function listRemovals(db: Queryable, now: Date, limit: number): Promise<Removal[]> {
  const { rows } = await db.query<JobKey & Omit<Removal, 'key' | 'jobId'>>(
    `SELECT kind, job_id AS uuid, bucket, tenant_id AS "tenantId", storage FROM batch_jobs j
     WHERE removal_due_at <= $1 AND ${notHeld('j')} ORDER BY removal_due_at LIMIT $2`,
    [now, limit],
  );
  return rows.map(({ kind, uuid, bucket, ...row }) => {
    const key = { kind, uuid, bucket };
    return { key, jobId: jobIdOf(key), ...row };
  });
}

/** The gateway has nothing of the job's content any more. */
export async function endRemoval(db: Queryable, job: JobKey): Promise<void> {
  await db.query('UPDATE batch_jobs SET removal_due_at = NULL, removal_failures = 0 WHERE job_id = $1', [job.uuid]);
}

/** Answers how often in a row it has failed by now. */
export async function postponeRemoval(db: Queryable, job: JobKey, until: Date): Promise<number> {
  const { rows } = await db.query<{ failures: number }>(
    `UPDATE batch_jobs SET removal_due_at = $2, removal_failures = removal_failures + 1
     WHERE job_id = $1 AND removal_due_at IS NOT NULL RETURNING removal_failures AS failures`,
    [job.uuid, until],
  );
  return rows[0]?.failures ?? 0;
}

/** Templates of recurring jobs that are deleted lose what they put into requests. Answers of how many. */
export async function clearDeletedTemplates(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE batch_schedules SET job = job - 'request_defaults' WHERE schedule_id IN (
       SELECT schedule_id FROM batch_schedules s
       WHERE deleted_at IS NOT NULL AND job ? 'request_defaults' AND ${notHeld('s', { hasJob: false })} LIMIT $1)`,
    [limit],
  );
  return rowCount ?? 0;
}
