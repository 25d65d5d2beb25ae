import type pg from 'pg';
import type { JobKey } from '../db/job-rows.ts';
import { type LedgerAct, ledgerEvent } from '../domain/ledger-entry.ts';
import { type Amount, formatNumeric } from '../domain/money.ts';
import { isCorrection, rollUpCorrection } from './rollups.ts';

/** Whose money an entry is about: what the tenant is charged, or what the gateway itself bears. */
export type LedgerAccount = 'tenant' | 'gateway';

export interface LedgerEntry {
  /** 0 for the job itself. */
  readonly itemNo: number;
  /** On record under the name of the job's kind: `released` of a task is `task.released`. */
  readonly act: LedgerAct;
  /** Submission, shard attempt or cause by number, never a time: what makes a replay meet its own row. */
  readonly ordinal: number;
  readonly amount: Amount;
  /** Who caused it: `gateway`, a key id, an operator. */
  readonly actor: string;
  /** Why, in a word or two. */
  readonly cause: string;
  /** The tenant's unless said. */
  readonly account?: LedgerAccount;
}

/**
 * Appends one entry; false when the same event of the same cause is there already. What corrects the tenant's charge goes
 * into the job's rollups with it.
 */
export async function appendEntry(
  client: Pick<pg.PoolClient, 'query'>,
  job: JobKey,
  entry: LedgerEntry,
): Promise<boolean> {
  const event = ledgerEvent(job.kind, entry.act);
  const { rowCount } = await client.query(
    `INSERT INTO ledger_entries (bucket, subject_id, item_no, event, ordinal, amount, actor, cause, account)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
    [
      job.bucket,
      job.uuid,
      entry.itemNo,
      event,
      entry.ordinal,
      formatNumeric(entry.amount),
      entry.actor,
      entry.cause,
      entry.account ?? 'tenant',
    ],
  );
  if (rowCount !== 1) return false;
  if (isCorrection(entry.act) && (entry.account ?? 'tenant') === 'tenant') {
    await rollUpCorrection(client, job, { ...entry, event });
  }
  return true;
}
