import type { Database } from '../../db/client.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { appendEntry, type LedgerEntry } from '../../ledger/entries.ts';

/** Writes a refund of an item, or an adjustment of the job (item 0), as the ledger has it. */
export async function correct(
  db: Database,
  jobId: string,
  { itemNo, amount, ordinal = 1 }: { readonly itemNo: number; readonly amount: bigint; readonly ordinal?: number },
): Promise<void> {
  const { key } = await getJobRow(db.pool, jobId);
  const entry: LedgerEntry = {
    itemNo,
    act: itemNo === 0 ? 'adjusted' : 'item.refunded',
    ordinal,
    amount,
    actor: 'operator',
    cause: 'test',
  };
  await appendEntry(db.pool, key, entry);
  if (itemNo === 0) return;
  await db.pool.query(
    'UPDATE batch_items SET refunded_amount = $4::numeric / 1000000000000 WHERE bucket = $1 AND job_id = $2 AND item_no = $3',
    [key.bucket, key.uuid, itemNo, amount],
  );
}
