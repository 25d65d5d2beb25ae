import type pg from 'pg';
import type { JobRow } from '../db/job-rows.ts';
import { announce } from './announce.ts';
import { appendEntry } from './entries.ts';

/**
 * Records that a cancel of an open job was requested; the first request wins. The job's row must be locked. True if
 * this one was the first.
 */
export async function recordJobCancel(
  client: pg.PoolClient,
  job: JobRow,
  request: { by: string; reason: string | null; now: Date },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE batch_jobs SET cancel_requested_at = $2, cancel_requested_by = $3, cancel_reason = $4, state = 'cancel_requested'
     WHERE job_id = $1 AND cancel_requested_at IS NULL`,
    [job.key.uuid, request.now, request.by, request.reason],
  );
  if (rowCount !== 1) return false;
  await appendEntry(client, job.key, {
    itemNo: 0,
    act: 'cancel_requested',
    ordinal: job.submissionNo,
    amount: 0n,
    actor: request.by,
    cause: 'cancel',
  });
  await announce(client, job, 'cancel_requested', { status: 'cancel_requested' });
  return true;
}

/** Ends a job that was cancelled before anything was held or sent. The job's row must be locked. */
export async function recordJobCancelled(client: pg.PoolClient, job: JobRow, now: Date): Promise<void> {
  await client.query(
    `UPDATE batch_jobs SET state = 'cancelled', completed_at = $2, cancel_outcome = 'effective' WHERE job_id = $1`,
    [job.key.uuid, now],
  );
  await announce(client, job, 'cancelled', { status: 'cancelled' });
}
