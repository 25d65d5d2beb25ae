import type pg from 'pg';
import type { JobKey } from '../db/job-rows.ts';
import { drawHold } from '../domain/ledger-entry.ts';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
import { chargeBudget } from './budget-moves.ts';

/**
 * Charges a settled amount to the job's holds and to the budgets and periods they belong to: what the hold covers is
 * drawn from it, the rest is overage. The job's progress row is locked, so a job's holds change one transaction at a time.
 */
export async function drawFromHolds(
  client: pg.PoolClient,
  job: JobKey,
  submissionNo: number,
  charge: Amount,
): Promise<void> {
  if (charge === 0n) return;
  const { rows } = await client.query(
    `SELECT scope, period, budget_id, to_char(period_start, 'YYYY-MM-DD') AS period_start, amount, drawn, released
     FROM holds WHERE job_id = $1 AND submission_no = $2 ORDER BY budget_id NULLS FIRST`,
    [job.uuid, submissionNo],
  );
  for (const row of rows) {
    const released = row.released !== null;
    const { draw } = released
      ? { draw: 0n }
      : drawHold({ amount: parseNumeric(row.amount), drawn: parseNumeric(row.drawn) }, charge);
    if (draw !== 0n) {
      await client.query(
        'UPDATE holds SET drawn = drawn + $5 WHERE job_id = $1 AND submission_no = $2 AND scope = $3 AND period = $4',
        [job.uuid, submissionNo, row.scope, row.period, formatNumeric(draw)],
      );
    }
    if (row.budget_id === null) continue;
    const budget = { budgetId: row.budget_id, periodStart: row.period_start };
    await chargeBudget(client, budget, { drawn: draw, charge });
  }
}

/** Gives back what is left of the holds of one submission, once: only returned rows move a budget. */
export async function releaseHolds(
  client: pg.PoolClient,
  job: JobKey,
  submissionNo: number,
  now: Date,
): Promise<Amount> {
  const { rows } = await client.query<{
    scope: string;
    period: string;
    budget_id: string | null;
    period_start: string;
    released: string;
  }>(
    `UPDATE holds SET released = amount - drawn, released_at = $3
     WHERE job_id = $1 AND submission_no = $2 AND released IS NULL
     RETURNING scope, period, budget_id, to_char(period_start, 'YYYY-MM-DD') AS period_start, released`,
    [job.uuid, submissionNo, now],
  );
  const inLockOrder = rows
    .filter((row) => row.budget_id !== null)
    .sort((a, b) => (String(a.budget_id) < String(b.budget_id) ? -1 : 1));
  for (const row of inLockOrder) {
    await client.query('UPDATE budget_periods SET held = held - $3 WHERE budget_id = $1 AND period_start = $2', [
      row.budget_id,
      row.period_start,
      row.released,
    ]);
  }
  const own = rows.find((row) => row.scope === 'tenant' && row.period === 'total');
  return own === undefined ? 0n : parseNumeric(own.released);
}
