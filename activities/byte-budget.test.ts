import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';

test('what does not fit beside the rest waits, in its turn, and what is larger than all goes alone', async () => {
  const budget = new ByteBudget(10);
  const log: string[] = [];
  const ends: (() => void)[] = [];
  const start = (name: string, bytes: number) =>
    budget.run(bytes, async () => {
      log.push(name);
      await new Promise<void>((end) => ends.push(end));
    });
  const all = [start('a', 6), start('b', 6), start('c', 1), start('d', 100)];
  await turn();
  expect(log).toEqual(['a']);
  ends.shift()?.();
  await all[0];
  await turn();
  expect(log).toEqual(['a', 'b', 'c']);
  ends.shift()?.();
  await all[1];
  await turn();
  expect(log).toEqual(['a', 'b', 'c']);
  ends.shift()?.();
  await all[2];
  await turn();
  expect(log).toEqual(['a', 'b', 'c', 'd']);
  ends.shift()?.();
  await Promise.all(all);
});

test('what fails gives its share back', async () => {
  const budget = new ByteBudget(1);
  await expect(budget.run(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await budget.run(1, async () => 'next')).toBe('next');
});
