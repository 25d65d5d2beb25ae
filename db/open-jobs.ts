import type pg from 'pg';
import { jobIdOf } from './ids.ts';

export interface OpenJob {
  readonly jobId: string;
  readonly submissionNo: number;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly model: string;
  readonly itemCount: number;
  readonly submittedAt: Date | null;
  readonly cancelRequested: boolean;
}

/** A run over documents is not before its requests are written. */
const HANDED_OVER = `(j.kind = 'batch' OR EXISTS (SELECT FROM batch_shards s WHERE s.job_id = j.job_id))`;

/** Submitted jobs that run in batches and have not ended; any of them, where there are more than `limit`, so that none is always left out. */
export async function listOpenJobs(
  db: Pick<pg.Pool, 'query'>,
  submittedBefore: Date,
  limit: number,
): Promise<OpenJob[]> {
  const { rows } = await db.query(
    `SELECT job_id, kind, submission_no, tenant_id, customer_id, requested_model, item_count, submitted_at, cancel_requested_at IS NOT NULL AS cancel_requested
     FROM batch_jobs j
     WHERE price_mode = 'batch' AND ${HANDED_OVER} AND state IN ('validating', 'queued', 'running', 'finalizing', 'cancel_requested') AND submitted_at < $1
     ORDER BY random() LIMIT $2`,
    [submittedBefore, limit],
  );
  return rows.map((row) => ({
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    submissionNo: row.submission_no,
    tenantId: row.tenant_id,
    customerId: row.customer_id,
    model: row.requested_model,
    itemCount: row.item_count,
    submittedAt: row.submitted_at,
    cancelRequested: row.cancel_requested,
  }));
}
