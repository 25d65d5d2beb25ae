import type pg from 'pg';
import type { JobKey } from './job-rows.ts';
import { notHeld } from './legal-holds.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Deleted in a fraction of a second. */
const STEP_ITEMS = 10_000;

/** Of a job that keeps requests no longer than they may be sent again, and that is not held. */
const ENDED_WITH_REQUESTS = `storage IN ('pointers', 'hashes') AND completed_at IS NOT NULL AND request_body_deleted_at IS NULL
  AND ${notHeld('batch_jobs')}`;

/** Deletes the requests of items of a range that have settled in a shard. */
export async function deleteSettledRequests(
  db: Queryable,
  job: JobKey,
  shard: number,
  { firstItemNo, lastItemNo }: { readonly firstItemNo: number; readonly lastItemNo: number },
): Promise<void> {
  await db.query(
    `DELETE FROM item_requests WHERE bucket = $1 AND job_id = $2 AND item_no BETWEEN $4 AND $5 AND item_no IN (
       SELECT item_no FROM item_outcomes WHERE bucket = $1 AND job_id = $2 AND item_no BETWEEN $4 AND $5 AND shard = $3
     ) AND EXISTS (SELECT FROM batch_jobs j WHERE j.job_id = $2 AND ${notHeld('j')})`,
    [job.bucket, job.uuid, shard, firstItemNo, lastItemNo],
  );
}

/**
 * Deletes all requests of an ended job that keeps none, in steps of their own, and then says when. May be broken off and
 * called again by anyone; one that keeps its requests, or has not ended, is left alone.
 */
export async function deleteEndedRequests(
  db: Queryable,
  job: JobKey,
  now: Date,
  onStep: () => void = () => undefined,
): Promise<void> {
  const { rowCount } = await db.query(`SELECT 1 FROM batch_jobs WHERE job_id = $1 AND ${ENDED_WITH_REQUESTS}`, [
    job.uuid,
  ]);
  if (rowCount !== 1) return;
  for (;;) {
    onStep();
    const { rows } = await db.query<{ first: number | null }>(
      'SELECT min(item_no) AS first FROM item_requests WHERE bucket = $1 AND job_id = $2',
      [job.bucket, job.uuid],
    );
    const first = rows[0]?.first ?? null;
    if (first === null) break;
    await db.query('DELETE FROM item_requests WHERE bucket = $1 AND job_id = $2 AND item_no BETWEEN $3 AND $4', [
      job.bucket,
      job.uuid,
      first,
      first + STEP_ITEMS - 1,
    ]);
  }
  await db.query(
    `UPDATE batch_jobs SET request_body_deleted_at = $2, request_defaults = NULL WHERE job_id = $1 AND ${ENDED_WITH_REQUESTS}`,
    [job.uuid, now],
  );
}

/** Ended jobs whose requests are still to be deleted, the longest ended first. */
export async function listRequestsDue(db: Queryable, limit: number): Promise<JobKey[]> {
  const { rows } = await db.query<JobKey>(
    `SELECT kind, job_id AS uuid, bucket FROM batch_jobs WHERE ${ENDED_WITH_REQUESTS} ORDER BY completed_at LIMIT $1`,
    [limit],
  );
  return rows;
}
