import type pg from 'pg';
import type { Database } from './client.ts';
import { deleteDeliveredContent } from './delivered-content.ts';
import { fromUuid } from './ids.ts';
import { notHeld } from './legal-holds.ts';
import { releaseOriginals } from './retry-release.ts';
import { inTransaction } from './transaction.ts';
import { deleteJobWebhook } from './webhook-secrets.ts';

/** Rows of a large job go in steps, so that no transaction lasts long and a broken-off deletion goes on where it was. */
const STEP_ITEMS = 20_000;
/** A draft goes at once, whatever its size. */
export const DRAFT_STATEMENT_TIMEOUT_MS = 10 * 60_000;

/** Of a job that a provider was sent anything of. */
const HAS_PROVIDER_FILES = `EXISTS (SELECT FROM batch_provider_metadata m WHERE m.job_id = batch_jobs.job_id
  AND m.files_deleted_at IS NULL AND (m.provider_batch_id IS NOT NULL OR m.input_file_id IS NOT NULL))`;

interface StoredJob {
  readonly uuid: string;
  readonly bucket: number;
}

/**
 * A draft vanishes, but for ledger rows and events of refused submissions, which nothing removes; items it was to retry may
 * be retried again. False when the job is no draft any more.
 */
export async function deleteDraftRows(client: pg.PoolClient, job: StoredJob): Promise<boolean> {
  const { rows } = await client.query<{ retry_of: string | null }>(
    "SELECT retry_of FROM batch_jobs WHERE job_id = $1 AND state = 'draft' FOR UPDATE",
    [job.uuid],
  );
  const [gone] = rows;
  if (gone === undefined) return false;
  if (gone.retry_of !== null) await releaseOriginals(client, { ...job, retryOf: gone.retry_of });
  for (const table of ['item_requests', 'batch_items']) {
    await client.query(`DELETE FROM ${table} WHERE bucket = $1 AND job_id = $2`, [job.bucket, job.uuid]);
  }
  for (const table of ['job_item_groups', 'job_submissions', 'job_progress']) {
    await client.query(`DELETE FROM ${table} WHERE job_id = $1`, [job.uuid]);
  }
  await deleteJobWebhook(client, fromUuid('job', job.uuid));
  // Last, since row-level security finds what hangs on a job by the job.
  await client.query('DELETE FROM batch_jobs WHERE job_id = $1', [job.uuid]);
  return true;
}

/**
 * From now on the job's content cannot be read, and what the gateway and the providers have of it is due for removal. False for
 * a job that has not ended, or is held. Repeating it changes nothing.
 */
export async function markContentDeleted(
  db: Pick<pg.ClientBase, 'query'>,
  job: StoredJob,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE batch_jobs SET content_deleted_at = coalesce(content_deleted_at, $2),
       request_body_deleted_at = coalesce(request_body_deleted_at, $2), request_defaults = NULL,
       removal_due_at = CASE WHEN content_deleted_at IS NULL THEN $2 ELSE removal_due_at END,
       provider_files_due_at = CASE WHEN provider_files_deleted_at IS NULL AND ${HAS_PROVIDER_FILES} THEN $2 ELSE provider_files_due_at END
     WHERE job_id = $1 AND state IN ('completed', 'completed_with_errors', 'expired', 'cancelled', 'failed')
       AND ${notHeld('batch_jobs')}`,
    [job.uuid, now],
  );
  return rowCount === 1;
}

/**
 * Removes the requests, replies and raw lines of an ended job. Items, outcomes and ledger stay. Items of another job that it
 * was to retry, and never did, may be retried again.
 */
export async function deleteContent(db: Database, job: StoredJob): Promise<void> {
  const { pool } = db;
  const { rows: unrun } = await pool.query<{ retry_of: string }>(
    'SELECT retry_of FROM batch_jobs WHERE job_id = $1 AND retry_of IS NOT NULL AND admitted_at IS NULL',
    [job.uuid],
  );
  for (const { retry_of: retryOf } of unrun) {
    await inTransaction(db, (client) => releaseOriginals(client, { ...job, retryOf }), { setWise: true });
  }
  const { rows } = await pool.query<{ last: number | null }>(
    'SELECT max(item_no) AS last FROM batch_items WHERE bucket = $1 AND job_id = $2',
    [job.bucket, job.uuid],
  );
  const last = rows[0]?.last ?? 0;
  for (let first = 1; first <= last; first += STEP_ITEMS) {
    for (const table of ['item_requests', 'item_results']) {
      await pool.query(`DELETE FROM ${table} WHERE bucket = $1 AND job_id = $2 AND item_no BETWEEN $3 AND $4`, [
        job.bucket,
        job.uuid,
        first,
        first + STEP_ITEMS - 1,
      ]);
    }
  }
  await pool.query('DELETE FROM task_replies WHERE job_id = $1', [job.uuid]);
  await deleteDeliveredContent(pool, job);
  await pool.query("UPDATE unmatched_lines SET raw = ''::bytea WHERE job_id = $1 AND raw <> ''::bytea", [job.uuid]);
}
