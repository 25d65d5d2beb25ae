import { expect, test } from 'vitest';
import { runEach } from './run-each.ts';

test('every sweep runs, in order, and their results are kept by name', async () => {
  const order: string[] = [];
  const run = (name: string) => async () => order.push(name);
  expect(await runEach({ a: run('a'), b: run('b') })).toEqual({ a: 1, b: 2 });
  expect(order).toEqual(['a', 'b']);
});

test('a sweep that fails keeps none of the others from running, and fails the run by name', async () => {
  const broken = async () => {
    throw new Error('away');
  };
  await expect(runEach({ first: broken, second: async () => 7, third: broken })).rejects.toMatchObject({
    message: 'could not sweep: first, third',
    details: [{ second: 7 }],
    nonRetryable: true,
  });
});
