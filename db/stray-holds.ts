import type pg from 'pg';
import { ledgerEvent } from '../domain/ledger-entry.ts';
import { parseNumeric } from '../domain/money.ts';
import type { StrayMoney } from '../domain/stray-hold.ts';
import { jobIdOf } from './ids.ts';
import type { JobKey } from './job-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** Money held for a submission that is over, or whose job is gone. */
export interface StraySubmission {
  readonly jobId: string;
  readonly submissionNo: number;
}

const IS_STRAY = `(j.job_id IS NULL OR h.submission_no <> j.submission_no
  OR j.state IN ('draft', 'completed', 'completed_with_errors', 'expired', 'cancelled', 'failed')
  OR j.kind = 'task' AND NOT EXISTS (SELECT FROM async_tasks t WHERE t.task_id = j.job_id))`;

export async function listStraySubmissions(db: Queryable, limit: number): Promise<StraySubmission[]> {
  const { rows } = await db.query(
    `SELECT coalesce(j.kind, 'batch') AS kind, h.job_id, h.submission_no FROM holds h LEFT JOIN batch_jobs j ON j.job_id = h.job_id
     WHERE h.released IS NULL AND ${IS_STRAY} GROUP BY 1, h.job_id, h.submission_no ORDER BY random() LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    submissionNo: row.submission_no,
  }));
}

/** Null where nothing of the submission is stray. The job's row has to be locked, where there is one. */
export async function readStrayMoney(
  client: Queryable,
  key: JobKey,
  submissionNo: number,
): Promise<(StrayMoney & { readonly tenantId: string | null }) | null> {
  const { rows } = await client.query(
    `SELECT h.amount, h.drawn, j.tenant_id FROM holds h LEFT JOIN batch_jobs j ON j.job_id = h.job_id
     WHERE h.job_id = $1 AND h.submission_no = $2 AND h.released IS NULL AND ${IS_STRAY}`,
    [key.uuid, submissionNo],
  );
  if (rows.length === 0) return null;
  const { rows: sums } = await client.query(
    `SELECT coalesce(sum(amount) FILTER (WHERE event = $4), 0) AS charged,
       sum(amount) FILTER (WHERE event = $5) AS reserved,
       count(*) FILTER (WHERE event = $6) > 0 AS was_released
     FROM ledger_entries WHERE subject_id = $1 AND bucket = $2 AND ordinal = $3`,
    [
      key.uuid,
      key.bucket,
      submissionNo,
      ...(['item.settled', 'reserved', 'released'] as const).map((act) => ledgerEvent(key.kind, act)),
    ],
  );
  const [sum] = sums;
  return {
    tenantId: rows[0].tenant_id,
    amounts: rows.map((row) => parseNumeric(row.amount)),
    drawn: rows.map((row) => parseNumeric(row.drawn)),
    charged: parseNumeric(sum.charged),
    reserved: sum.reserved === null ? null : parseNumeric(sum.reserved),
    wasReleased: sum.was_released,
  };
}
