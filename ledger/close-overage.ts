import type pg from 'pg';
import type { JobRow } from '../db/job-rows.ts';
import { insertSuspension } from '../db/suspensions.ts';
import { type Amount, formatNumeric } from '../domain/money.ts';
import {
  chooseOverrunScopes,
  DEFAULT_OVERAGE_POLICY,
  judgeOverage,
  type Overage,
  type SpendingScope,
} from '../domain/overage.ts';
import { appendEntry } from './entries.ts';
import { recharge } from './recharge.ts';

/**
 * At the end of a job, once: what it cost above its hold is written down and charged, or taken off the tenant's charge
 * again, by the policy the job was accepted under. Answers what stays charged. The job's row and its progress row must
 * be locked, and its holds released.
 */
export async function closeOverage(client: pg.PoolClient, job: JobRow, charged: Amount): Promise<Amount> {
  const policy = job.overagePolicy ?? DEFAULT_OVERAGE_POLICY;
  const { charge, overage } = judgeOverage(job.reservedAmount ?? 0n, charged, policy);
  if (overage === null) return charge;
  const cause = `overage_${overage.outcome}`;
  const entry = { itemNo: 0, ordinal: job.submissionNo, actor: 'gateway', cause };
  const account = overage.outcome === 'absorbed' ? 'gateway' : 'tenant';
  await appendEntry(client, job.key, { ...entry, act: 'overage', amount: overage.amount, account });
  if (overage.outcome === 'absorbed') {
    await appendEntry(client, job.key, { ...entry, act: 'adjusted', amount: -overage.amount });
    await recharge(client, job, { before: charged, after: charge });
  }
  await client.query('UPDATE batch_jobs SET overage_amount = $2, overage_outcome = $3 WHERE job_id = $1', [
    job.key.uuid,
    formatNumeric(overage.amount),
    overage.outcome,
  ]);
  if (overage.outcome === 'suspended') await suspendScopes(client, job, overage);
  return charge;
}

async function suspendScopes(client: pg.PoolClient, job: JobRow, overage: Overage): Promise<void> {
  for (const scope of chooseOverrunScopes(job, await listBudgetsOf(client, job))) {
    await insertSuspension(client, job, scope, overage.amount);
  }
}

/** The budgets the job's money belongs to, in the periods of its holds, as this transaction leaves them. */
async function listBudgetsOf(
  client: pg.PoolClient,
  job: JobRow,
): Promise<(SpendingScope & { readonly isPastLimit: boolean })[]> {
  const { rows } = await client.query<{ scope: SpendingScope['scope']; scope_id: string; is_past_limit: boolean }>(
    `SELECT b.scope, b.scope_id, coalesce(s.held + s.settled > b.limit_amount, false) AS is_past_limit
     FROM holds h JOIN budgets b ON b.budget_id = h.budget_id
     JOIN budget_periods s ON s.budget_id = h.budget_id AND s.period_start = h.period_start
     WHERE h.job_id = $1 AND h.submission_no = $2 AND b.limit_amount IS NOT NULL ORDER BY b.budget_id`,
    [job.key.uuid, job.submissionNo],
  );
  return rows.map((row) => ({ scope: row.scope, scopeId: row.scope_id, isPastLimit: row.is_past_limit }));
}
