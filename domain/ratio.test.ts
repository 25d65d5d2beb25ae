import { expect, test } from 'vitest';
import { ratioOf } from './ratio.ts';

test.each<[bigint, bigint, number | null]>([
  [0n, 5n, 0],
  [1n, 3n, 0.333333],
  [2n, 3n, 0.666667],
  [-2n, 3n, -0.666667],
  [3n, 2n, 1.5],
  [10n ** 40n, 3n * 10n ** 40n, 0.333333],
  [1n, 2_000_000n, 0.000001],
  [1n, 0n, null],
  [0n, 0n, null],
])('%i of %i is %d', (part, whole, ratio) => {
  expect(ratioOf(part, whole)).toBe(ratio);
});
