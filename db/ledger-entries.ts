import type pg from 'pg';
import { type Amount, parseNumeric } from '../domain/money.ts';
import { fromUuid } from './ids.ts';
import type { JobRecord } from './job-view.ts';
import { nameOf, namesOf } from './ledger-names.ts';

export interface LedgerEntryRecord {
  readonly event: string;
  /** 0 is the job itself. */
  readonly itemNo: number;
  readonly itemId: string | null;
  readonly customId: string | null;
  readonly ordinal: number;
  readonly amount: Amount;
  readonly actor: string;
  readonly cause: string;
  readonly account: 'tenant' | 'gateway';
  readonly createdAt: Date;
}

/** The key of an entry within its job, which is also the order of a page. */
export interface LedgerPosition {
  readonly itemNo: number;
  readonly event: string;
  readonly ordinal: number;
}

/**
 * Who reads: the tenant everything; its customer only what is the tenant's account; a customer with prices of its own only
 * what it was quoted and charged, in those prices.
 */
export type LedgerView = 'tenant' | 'customer' | 'priced';

/** Release and overage follow from the tenant's hold, adjustments from the provider's invoice: not a customer's affair. */
const IS_PRICED = `AND e.event NOT IN ${namesOf('released', 'overage', 'adjusted')}`;
const PRICED_JOINS = `
     JOIN batch_jobs j ON j.job_id = $2
     LEFT JOIN job_progress p ON p.job_id = $2
     LEFT JOIN item_outcomes o ON o.bucket = $1 AND o.job_id = $2 AND o.item_no = e.item_no AND e.item_no > 0`;
const PRICED_AMOUNT = `CASE e.event
       WHEN ${nameOf('item.settled')} THEN coalesce(o.customer_amount, o.amount)
       WHEN ${nameOf('item.refunded')} THEN customer_share(coalesce(o.customer_amount, o.amount), e.amount, o.amount)
       WHEN ${nameOf('estimated')} THEN j.customer_estimated_amount
       WHEN ${nameOf('reserved')} THEN j.customer_reserved_amount
       WHEN ${nameOf('reconciled')} THEN p.customer_settled_amount
       ELSE 0
     END`;

/** Entries about the job first, then those of its items by number. */
export async function listLedgerEntries(
  db: Pick<pg.ClientBase, 'query'>,
  job: Pick<JobRecord, 'uuid' | 'bucket'>,
  { level, view }: { readonly level: 'job' | 'item' | null; readonly view: LedgerView },
  page: { readonly after: LedgerPosition | null; readonly limit: number },
): Promise<LedgerEntryRecord[]> {
  const after = page.after ?? { itemNo: -1, event: '', ordinal: 0 };
  const { rows } = await db.query<{
    event: string;
    item_no: number;
    item_id: string | null;
    custom_id: string | null;
    ordinal: number;
    amount: string;
    actor: string;
    cause: string;
    account: 'tenant' | 'gateway';
    created_at: Date;
  }>(
    `SELECT e.event, e.item_no, i.item_id, i.custom_id, e.ordinal, ${view === 'priced' ? PRICED_AMOUNT : 'e.amount'} AS amount, e.actor, e.cause, e.account, e.created_at
     FROM ledger_entries e
     ${view === 'priced' ? PRICED_JOINS : ''}
     LEFT JOIN batch_items i ON i.bucket = $1 AND i.job_id = $2 AND i.item_no = e.item_no AND e.item_no > 0
     WHERE e.bucket = $1 AND e.subject_id = $2 AND (e.item_no, e.event, e.ordinal) > ($3, $4, $5)
       AND e.item_no BETWEEN $6 AND $7 AND ($9 OR e.account = 'tenant') ${view === 'priced' ? IS_PRICED : ''}
     ORDER BY e.item_no, e.event, e.ordinal LIMIT $8`,
    [
      job.bucket,
      job.uuid,
      after.itemNo,
      after.event,
      after.ordinal,
      level === 'item' ? 1 : 0,
      level === 'job' ? 0 : 2_147_483_647,
      page.limit,
      view === 'tenant',
    ],
  );
  return rows.map((row) => ({
    event: row.event,
    itemNo: row.item_no,
    itemId: row.item_id === null ? null : fromUuid('item', row.item_id),
    customId: row.custom_id,
    ordinal: row.ordinal,
    amount: parseNumeric(row.amount),
    actor: row.actor,
    cause: row.cause,
    account: row.account,
    createdAt: row.created_at,
  }));
}
