import type pg from 'pg';
import type { JobRow } from '../db/job-rows.ts';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
import { splitCharge } from '../domain/overage.ts';
import { chargeBudget } from './budget-moves.ts';
import { appendEntry, type LedgerEntry } from './entries.ts';

/** A job's whole charge as it was and as it shall be. */
export interface ChargeChange {
  readonly before: Amount;
  readonly after: Amount;
}

/**
 * Sets a job's whole charge anew, on the job and on every budget and period its holds belong to. Of each hold it takes
 * what the hold covers; what it no longer takes is held again, or released where the hold was given back. The job's row
 * and its progress row must be locked. Throws for a charge below zero.
 */
export async function recharge(client: pg.PoolClient, job: JobRow, { before, after }: ChargeChange): Promise<void> {
  const difference = formatNumeric(after - before);
  await client.query('UPDATE job_progress SET settled_amount = settled_amount + $2 WHERE job_id = $1', [
    job.key.uuid,
    difference,
  ]);
  await client.query('UPDATE batch_jobs SET settled_amount = settled_amount + $2 WHERE job_id = $1', [
    job.key.uuid,
    difference,
  ]);
  const { rows } = await client.query<HoldRow>(
    `SELECT scope, period, budget_id, to_char(period_start, 'YYYY-MM-DD') AS period_start, amount, drawn, released
     FROM holds WHERE job_id = $1 AND submission_no = $2 ORDER BY budget_id NULLS FIRST`,
    [job.key.uuid, job.submissionNo],
  );
  for (const row of rows) {
    const { covered } = splitCharge(parseNumeric(row.amount), after);
    const drawn = covered - parseNumeric(row.drawn);
    await client.query(
      `UPDATE holds SET drawn = drawn + $5, released = released - $5
       WHERE job_id = $1 AND submission_no = $2 AND scope = $3 AND period = $4`,
      [job.key.uuid, job.submissionNo, row.scope, row.period, formatNumeric(drawn)],
    );
    if (row.budget_id === null) continue;
    const budget = { budgetId: row.budget_id, periodStart: row.period_start };
    await chargeBudget(client, budget, { drawn: row.released === null ? drawn : 0n, charge: after - before });
  }
}

interface HoldRow {
  readonly scope: string;
  readonly period: string;
  readonly budget_id: string | null;
  readonly period_start: string;
  readonly amount: string;
  readonly drawn: string;
  readonly released: string | null;
}

/**
 * After a job's end its overage and release are on record; a charge that changes then corrects both by entries of their
 * own, below zero where they take back, so that the ledger's sums keep the law.
 */
export async function appendCorrections(
  client: pg.PoolClient,
  job: JobRow,
  entry: Pick<LedgerEntry, 'itemNo' | 'ordinal' | 'actor' | 'cause'>,
  { before, after }: ChargeChange,
): Promise<void> {
  const reserved = job.reservedAmount ?? 0n;
  const [was, is] = [splitCharge(reserved, before), splitCharge(reserved, after)];
  const released = was.covered - is.covered;
  const overage = is.over - was.over;
  if (released !== 0n) await appendEntry(client, job.key, { ...entry, act: 'released', amount: released });
  if (overage !== 0n) await appendEntry(client, job.key, { ...entry, act: 'overage', amount: overage });
}
