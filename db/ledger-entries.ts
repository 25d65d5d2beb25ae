import type pg from 'pg';
import { type Amount, parseNumeric } from '../domain/money.ts';
import { fromUuid } from './ids.ts';
import type { JobRecord } from './job-view.ts';

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
  readonly createdAt: Date;
}

/** The key of an entry within its job, which is also the order of a page. */
export interface LedgerPosition {
  readonly itemNo: number;
  readonly event: string;
  readonly ordinal: number;
}

/** Entries about the job first, then those of its items by number. */
export async function listLedgerEntries(
  db: Pick<pg.ClientBase, 'query'>,
  job: Pick<JobRecord, 'uuid' | 'bucket'>,
  level: 'job' | 'item' | null,
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
    created_at: Date;
  }>(
    `SELECT e.event, e.item_no, i.item_id, i.custom_id, e.ordinal, e.amount, e.actor, e.cause, e.created_at
     FROM ledger_entries e
     LEFT JOIN batch_items i ON i.bucket = $1 AND i.job_id = $2 AND i.item_no = e.item_no AND e.item_no > 0
     WHERE e.bucket = $1 AND e.subject_id = $2 AND (e.item_no, e.event, e.ordinal) > ($3, $4, $5)
       AND e.item_no BETWEEN $6 AND $7
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
    createdAt: row.created_at,
  }));
}
