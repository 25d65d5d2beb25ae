import { expect, test } from 'vitest';
import { settleRangeOf, settleRanges } from './settle-ranges.ts';

test('ranges cover a shard without gap or overlap, and each item is found in its own', () => {
  const shard = { firstItemNo: 5, lastItemNo: 20_006 };
  const ranges = settleRanges(shard);
  expect(ranges.map(({ firstItemNo, lastItemNo }) => [firstItemNo, lastItemNo])).toEqual([
    [5, 10_004],
    [10_005, 20_004],
    [20_005, 20_006],
  ]);
  for (const [index, range] of ranges.entries()) {
    expect([settleRangeOf(shard, range.firstItemNo), settleRangeOf(shard, range.lastItemNo)]).toEqual([index, index]);
  }
});
