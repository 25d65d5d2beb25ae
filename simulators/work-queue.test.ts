import { expect, test } from 'vitest';
import { createWorkQueue } from './work-queue.ts';

test('runs no more than its limit at a time, in order, and goes on after a failure', async () => {
  const enqueue = createWorkQueue(2);
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const results = gates.map((gate, index) =>
    enqueue(async () => {
      begun.push(index);
      await gate.promise;
      return index;
    }),
  );
  const outcomes = Promise.allSettled(results);
  expect(begun).toEqual([0, 1]);
  gates[1]?.reject(new Error('broken'));
  await expect(results[1]).rejects.toThrow('broken');
  expect(begun).toEqual([0, 1, 2]);
  for (const gate of gates) gate.resolve();
  expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(begun).toEqual([0, 1, 2, 3]);
});
