import type { ShardRow } from '../db/shards.ts';

/** Items settled in one short transaction. */
const SETTLE_ITEMS = 10_000;

type ItemRange = Pick<ShardRow, 'firstItemNo' | 'lastItemNo'>;

/** A shard's item numbers in ranges that each settle in one transaction, in order. */
export function settleRanges({ firstItemNo, lastItemNo }: ItemRange): ItemRange[] {
  const ranges: ItemRange[] = [];
  for (let first = firstItemNo; first <= lastItemNo; first += SETTLE_ITEMS) {
    ranges.push({ firstItemNo: first, lastItemNo: Math.min(first + SETTLE_ITEMS - 1, lastItemNo) });
  }
  return ranges;
}

/** The position of an item's range among them. */
export function settleRangeOf({ firstItemNo }: ItemRange, itemNo: number): number {
  return Math.floor((itemNo - firstItemNo) / SETTLE_ITEMS);
}
