import type pg from 'pg';
import type { JobKey } from '../db/job-rows.ts';
import { type LedgerAct, ledgerEvent } from '../domain/ledger-entry.ts';
import { type Amount, formatNumeric } from '../domain/money.ts';
import { isCorrection, rollUpCorrection } from './rollups.ts';

type Queryable = Pick<pg.PoolClient, 'query'>;

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
export async function appendEntry(client: Queryable, job: JobKey, entry: LedgerEntry): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO ledger_entries (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
    [job.bucket, job.uuid, ...valuesOf(job, entry)],
  );
  if (rowCount !== 1) return false;
  if (isCorrection(entry.act) && (entry.account ?? 'tenant') === 'tenant') {
    await rollUpCorrection(client, job, { ...entry, event: ledgerEvent(job.kind, entry.act) });
  }
  return true;
}

/** Entries of one cause that correct nothing, in one statement; those that are there already stay as they are. */
export async function appendEntries(
  client: Queryable,
  job: JobKey,
  entries: readonly (LedgerEntry & { readonly act: Exclude<LedgerAct, 'item.refunded' | 'adjusted'> })[],
): Promise<void> {
  const rows = entries.map((entry) => valuesOf(job, entry));
  const columns = COLUMNS.split(', ')
    .slice(2)
    .map((_, column) => rows.map((row) => row[column]));
  await client.query(
    `INSERT INTO ledger_entries (${COLUMNS})
     SELECT $1, $2, e.item_no, e.event, e.ordinal, e.amount, e.actor, e.cause, e.account
     FROM unnest($3::int[], $4::text[], $5::int[], $6::numeric[], $7::text[], $8::text[], $9::text[])
       AS e (item_no, event, ordinal, amount, actor, cause, account)
     ON CONFLICT DO NOTHING`,
    [job.bucket, job.uuid, ...columns],
  );
}

const COLUMNS = 'bucket, subject_id, item_no, event, ordinal, amount, actor, cause, account';

/** In the order of COLUMNS, without the job's. */
function valuesOf(job: JobKey, entry: LedgerEntry): (string | number)[] {
  const { itemNo, act, ordinal, amount, actor, cause, account = 'tenant' } = entry;
  return [itemNo, ledgerEvent(job.kind, act), ordinal, formatNumeric(amount), actor, cause, account];
}
