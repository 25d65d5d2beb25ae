import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseSample, spreadNumbers } from './item-sample.ts';

test('all of a few are taken', () => {
  expect(spreadNumbers(5, 3, 10, 'job')).toEqual([5, 6, 7]);
  expect(spreadNumbers(5, 0, 10, 'job')).toEqual([]);
});

test('of many, one of each equal stretch is taken, and always the same one', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.integer({ min: 101, max: 2_000_000 }), fc.string(), (first, count, seed) => {
      const numbers = spreadNumbers(first, count, 100, seed);
      expect(numbers).toHaveLength(100);
      expect(numbers).toEqual(spreadNumbers(first, count, 100, seed));
      for (const [index, number] of numbers.entries()) {
        expect(number).toBeGreaterThanOrEqual(first + Math.floor((index * count) / 100));
        expect(number).toBeLessThan(first + Math.floor(((index + 1) * count) / 100));
      }
    }),
  );
});

const LIMITS = { maxItems: 10, maxBytes: 1_000 };
const common = Array.from({ length: 500 }, (_, itemNo) => ({ itemNo, kind: 'common', bytes: 10 }));
const rare = Array.from({ length: 3 }, (_, index) => ({ itemNo: 900 + index, kind: 'rare', bytes: 10 }));

test('a rare kind is heard beside a common one', () => {
  const chosen = chooseSample([...common, ...rare], LIMITS);
  expect(chosen).toHaveLength(10);
  expect(chosen.filter(({ kind }) => kind === 'rare')).toHaveLength(3);
});

test('what does not fit is passed over, and smaller ones still come', () => {
  const large = [1, 2, 3].map((itemNo) => ({ itemNo, kind: 'large', bytes: 600 }));
  const chosen = chooseSample([...large, ...common], LIMITS);
  expect(chosen.filter(({ kind }) => kind === 'large')).toHaveLength(1);
  expect(chosen).toHaveLength(10);
  expect(chooseSample([{ itemNo: 1, kind: 'large', bytes: 1_001 }], LIMITS)).toEqual([]);
});

test('an equal choice is made of an equal job', () => {
  expect(chooseSample([...common, ...rare], LIMITS)).toEqual(chooseSample([...common, ...rare], LIMITS));
});
