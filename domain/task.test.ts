import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clampPriority, hasTaskEnded, isPollable, mayTaskMove, POLLABLE_MS, TASK_STATES } from './task.ts';

test('a task goes QUEUED → PROCESSING → COMPLETED | FAILED, back to QUEUED, and out of no end', () => {
  const moves = TASK_STATES.map((from) => [from, TASK_STATES.filter((to) => mayTaskMove(from, to))]);
  expect(Object.fromEntries(moves)).toEqual({
    QUEUED: ['PROCESSING', 'FAILED'],
    PROCESSING: ['QUEUED', 'COMPLETED', 'FAILED'],
    COMPLETED: [],
    FAILED: [],
  });
  expect(TASK_STATES.filter(hasTaskEnded)).toEqual(['COMPLETED', 'FAILED']);
});

test('property: a priority in range stays, any other is the nearer end', () => {
  fc.assert(
    fc.property(fc.integer(), (priority) => {
      const clamped = clampPriority(priority);
      if (priority >= 1 && priority <= 10) expect(clamped).toBe(priority);
      else expect(clamped).toBe(priority < 1 ? 1 : 10);
    }),
  );
  expect(clampPriority(undefined)).toBe(1);
});

test('a task is polled until 24 hours after its end', () => {
  const ended = new Date('2026-08-19T10:00:00Z');
  const after = (ms: number) => new Date(ended.getTime() + ms);
  expect(isPollable(null, ended)).toBe(true);
  expect(isPollable(ended, after(POLLABLE_MS - 1))).toBe(true);
  expect(isPollable(ended, after(POLLABLE_MS))).toBe(false);
});
