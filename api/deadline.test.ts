import { expect, test } from 'vitest';
import { within } from './deadline.ts';

test('the value in time, the fallback otherwise, and an error in time as it is', async () => {
  expect(await within(Promise.resolve(1), 1_000, 'late')).toBe(1);
  expect(await within(new Promise(() => {}), 1, 'late')).toBe('late');
  await expect(within(Promise.reject(new Error('no')), 1_000, 'late')).rejects.toThrow('no');
});

test('an error that comes too late disturbs nobody', async () => {
  const { promise, reject } = Promise.withResolvers<number>();
  expect(await within(promise, 0, 'late')).toBe('late');
  reject(new Error('late'));
  await expect(promise).rejects.toThrow('late');
});
