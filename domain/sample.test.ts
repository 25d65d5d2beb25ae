import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAmount } from './money.ts';
import { chooseSample, extrapolateCost } from './sample.ts';

test.each([
  [10, 1, [0]],
  [10, 3, [0, 3, 6]],
  [10, 4, [0, 2, 5, 7]],
  [3, 3, [0, 1, 2]],
  [2, 1_000, [0, 1]],
  [0, 5, []],
])('of %i items a sample of %i takes %j', (itemCount, wanted, positions) => {
  expect(chooseSample(itemCount, wanted)).toEqual(positions);
});

test('a sample is spread over the whole manifest: steps differ by one at most, and no item is taken twice', () => {
  const sizes = fc.tuple(fc.integer({ min: 1, max: 5_000_000 }), fc.integer({ min: 1, max: 1_000 }));
  fc.assert(
    fc.property(sizes, ([itemCount, wanted]) => {
      const positions = chooseSample(itemCount, wanted);
      expect(positions).toHaveLength(Math.min(itemCount, wanted));
      const steps = [...positions.slice(1), itemCount].map((position, index) => position - (positions[index] ?? 0));
      expect(Math.min(...steps)).toBeGreaterThanOrEqual(1);
      expect(Math.max(...steps) - Math.min(...steps)).toBeLessThanOrEqual(1);
    }),
  );
});

test.each([
  ['0.01', 10, 1_000, '1'],
  ['0.000000000001', 3, 10, '0.000000000003'],
  // 2.5 units: the tie goes to the even neighbour.
  ['0.000000000001', 2, 5, '0.000000000002'],
  ['0', 4, 9, '0'],
])('%s settled for %i items is for %i items %s', (settled, settledItems, ofItems, cost) => {
  expect(extrapolateCost({ settled: parseAmount(settled), settledItems, ofItems })).toBe(parseAmount(cost));
});

test('nothing is extrapolated from nothing', () => {
  expect(extrapolateCost({ settled: 0n, settledItems: 0, ofItems: 10 })).toBeNull();
});
