import { expect, test } from 'vitest';
import { createRandom, hash32, shuffled } from './random.ts';

test('gives the same numbers for the same seed', () => {
  const [one, two, other] = [createRandom(7), createRandom(7), createRandom(8)];
  const first = [one(), one(), one()];
  expect([two(), two(), two()]).toEqual(first);
  expect(other()).not.toBe(first[0]);
  expect(first.every((each) => each >= 0 && each < 1)).toBe(true);
});

test('keeps every item and never the given order', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    for (const items of [['a', 'b'], ['a', 'b', 'c'], Array.from({ length: 100 }, (_, index) => `${index}`)]) {
      const order = shuffled(items, createRandom(seed));
      expect(order).not.toEqual(items);
      expect(order.toSorted()).toEqual(items.toSorted());
    }
  }
  expect(shuffled(['only'], createRandom(1))).toEqual(['only']);
});

test('hashes the same text to the same number', () => {
  expect(hash32('text')).toBe(hash32('text'));
  expect(hash32('text')).not.toBe(hash32('texu'));
});
