import type pg from 'pg';
import type { JobRow } from '../db/job-rows.ts';
import type { ShardRow } from '../db/shards.ts';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
import { moveCounts } from '../domain/settled-counts.ts';
import { countRepeated, holdsRetries } from './repeated-counts.ts';

/** Items of one settlement that ended alike. */
export interface SettledGroup {
  state: number;
  error_code: string;
  items: number;
  amount: string;
  customer_amount: string;
}

export interface ProgressRow {
  last_seq: number;
  failures: Record<string, number>;
}

/** The row that serialises a job's settlements, numbers its results and keeps its counts. */
export async function lockProgress(client: pg.PoolClient, jobUuid: string): Promise<ProgressRow> {
  const { rows } = await client.query<ProgressRow>(
    'SELECT last_seq, failures FROM job_progress WHERE job_id = $1 FOR UPDATE',
    [jobUuid],
  );
  if (rows[0] === undefined) throw new Error('a submitted job has a progress row');
  return rows[0];
}

/** Adds what one settlement came to. Answers how many items it was, and what they are charged. */
export async function recordProgress(
  client: pg.PoolClient,
  of: { readonly job: JobRow; readonly shard: ShardRow },
  progress: ProgressRow,
  groups: readonly SettledGroup[],
): Promise<{ settled: number; charge: Amount }> {
  const repeated = await countRepeated(client, of, progress.last_seq);
  const { counts, failures } = moveCounts(progress.failures, groups, repeated);
  const settled = groups.reduce((sum, { items }) => sum + items, 0);
  const charge = groups.reduce((sum, { amount }) => sum + parseNumeric(amount), 0n);
  await client.query(
    `UPDATE job_progress SET completed = completed + $2, failed = failed + $3, expired = expired + $4, cancelled = cancelled + $5,
       failures = $6, last_seq = last_seq + $7, settled_amount = settled_amount + $8,
       customer_settled_amount = customer_settled_amount + $9, retries = retries + $10
     WHERE job_id = $1`,
    [
      of.job.key.uuid,
      counts.completed,
      counts.failed,
      counts.expired,
      counts.cancelled,
      JSON.stringify(failures),
      settled,
      formatNumeric(charge),
      formatNumeric(groups.reduce((sum, { customer_amount }) => sum + parseNumeric(customer_amount), 0n)),
      holdsRetries(of.job, of.shard) ? settled : 0,
    ],
  );
  return { settled, charge };
}
