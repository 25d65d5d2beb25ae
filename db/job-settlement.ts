import type pg from 'pg';
import { type Amount, parseNumeric } from '../domain/money.ts';
import type { JobKey } from './job-rows.ts';

/**
 * Locks the job's progress row, after the job's own row and before its items, and answers what the job is charged so
 * far. Null for a job that was never accepted.
 */
export async function lockProgressRow(client: Pick<pg.ClientBase, 'query'>, job: JobKey): Promise<Amount | null> {
  const { rows } = await client.query<{ settled_amount: string }>(
    'SELECT settled_amount FROM job_progress WHERE job_id = $1 FOR UPDATE',
    [job.uuid],
  );
  return rows[0] === undefined ? null : parseNumeric(rows[0].settled_amount);
}
