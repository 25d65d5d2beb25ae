import type { Database } from '../db/client.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { ShardRow } from '../db/shards.ts';
import { failureClassOf } from '../domain/failure.ts';
import { settleRemainder } from '../ledger/settle.ts';

/** An item whose request the provider cannot be asked, and what of it. The words are ours and quote nothing. */
export interface UntranslatableItem {
  readonly itemNo: number;
  readonly field: string;
  readonly message: string;
}

/** What never was in an input file settled before the first attempt: later ones count their lines without it. */
const BEFORE_ANY_ATTEMPT = 0;

/** Fails the items as invalid requests, before anything was sent and so free of charge. Given in order of their numbers. */
export async function settleUntranslatable(
  db: Database,
  { job, shard }: { readonly job: JobRow; readonly shard: ShardRow },
  items: readonly UntranslatableItem[],
): Promise<void> {
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return;
  const range = { job, shard, attempt: BEFORE_ANY_ATTEMPT, firstItemNo: first.itemNo, lastItemNo: last.itemNo };
  for (const [message, alike] of Map.groupBy(items, ({ field, message }) => `${field}: ${message}`)) {
    const failure = {
      state: 'failed',
      failureClass: failureClassOf('invalid_request'),
      code: 'invalid_request',
    } as const;
    const itemNos = alike.map(({ itemNo }) => itemNo);
    await settleRemainder(db, range, { ...failure, message, nativeError: null }, itemNos);
  }
}
