import type pg from 'pg';
import type { JobKind } from '../domain/job-kind.ts';
import type { JobState } from '../domain/job-state.ts';
import { type JobScope, jobCondition } from './job-scope.ts';
import { tightenTerms } from './storage-terms.ts';

export interface LockedJob {
  readonly uuid: string;
  readonly kind: JobKind;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly state: JobState;
  readonly wasSubmitted: boolean;
}

/**
 * Locks the row of a batch job, or without a scope also of a run's batch, until the transaction ends, before anything else about the job is read or written. Null for a job
 * outside the scope. A lock not had in time is `job_busy`, by the transaction's option.
 */
export async function lockJobInScope(
  client: pg.PoolClient,
  scope: JobScope | null,
  jobId: string,
): Promise<LockedJob | null> {
  const condition = jobCondition(scope, jobId, 'j');
  if (condition === null) return null;
  const { rows } = await client.query<LockedJob>(
    `SELECT j.job_id AS uuid, j.kind, j.tenant_id AS "tenantId", j.customer_id AS "customerId", j.state, j.submitted_at IS NOT NULL AS "wasSubmitted"
     FROM batch_jobs j WHERE ${condition.sql} FOR NO KEY UPDATE`,
    condition.values,
  );
  return rows[0] ?? null;
}

/** Whether the job's own deadline is still to come. Its row must be locked. */
export async function hasTimeLeft(client: pg.PoolClient, uuid: string, now: Date): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT 1 FROM batch_jobs WHERE job_id = $1 AND (deadline IS NULL OR deadline > $2)',
    [uuid, now],
  );
  return rowCount === 1;
}

/**
 * The one claim of a submission: a draft with items becomes `validating` under a new number, and under its tenant's storage
 * policy where that is stricter by now. Its row must be locked. Null when it did not win. `by` is the id of the
 * key that submits.
 */
export async function claimSubmission(
  client: pg.PoolClient,
  uuid: string,
  { by, now }: { readonly by: string; readonly now: Date },
): Promise<number | null> {
  const { rows } = await client.query<{ submission_no: number }>(
    `UPDATE batch_jobs SET state = 'validating', submission_no = submission_no + 1, submitted_at = $2, submitted_by = $3,
       admitted_at = NULL, refusal = NULL, estimated_amount = NULL, reserved_amount = NULL
     WHERE job_id = $1 AND state = 'draft' AND item_count > 0
     RETURNING submission_no`,
    [uuid, now, by],
  );
  if (rows[0] === undefined) return null;
  await tightenTerms(client, uuid);
  return rows[0].submission_no;
}

/** Takes a submission back that no workflow has claimed. False: it was claimed, and may run. */
export async function undoSubmission(client: pg.PoolClient, uuid: string, submissionNo: number): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE batch_jobs SET state = 'draft', submitted_at = NULL
     WHERE job_id = $1 AND submission_no = $2 AND state = 'validating' AND admitted_at IS NULL
       AND cancel_requested_at IS NULL`,
    [uuid, submissionNo],
  );
  return rowCount === 1;
}

export interface CancelWish {
  readonly at: Date;
  readonly by: string;
  readonly reason: string | null;
}

/** A draft holds nothing and is cancelled at once. */
export async function cancelDraft(client: pg.PoolClient, uuid: string, wish: CancelWish): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE batch_jobs SET state = 'cancelled', cancel_requested_at = $2, cancel_requested_by = $3, cancel_reason = $4,
       cancel_outcome = 'effective', completed_at = $2, submitted_at = NULL
     WHERE job_id = $1 AND state = 'draft'`,
    [uuid, wish.at, wish.by, wish.reason],
  );
  return rowCount === 1;
}
