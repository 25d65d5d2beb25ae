import { expect, test } from 'vitest';
import { findTimeFault, heldForMs, stopReason, untilDeadline } from './execution-times.ts';

const NOW = new Date('2026-08-19T10:00:00Z');
const DAY_MS = 24 * 3_600_000;
const after = (ms: number) => new Date(NOW.getTime() + ms);

test.each([
  ['no times', null, null, null],
  ['a deadline ahead', 1_000, null, null],
  ['a deadline at the limit', 60 * DAY_MS, null, null],
  ['a deadline now', 0, null, ['deadline_passed', 'execution.deadline']],
  ['a deadline past', -1, null, ['deadline_passed', 'execution.deadline']],
  ['a deadline beyond the limit', 60 * DAY_MS + 1, null, ['invalid_request', 'execution.deadline']],
  ['a beginning past', null, -DAY_MS, null],
  ['a beginning at the limit', null, 30 * DAY_MS, null],
  ['a beginning beyond the limit', null, 30 * DAY_MS + 1, ['invalid_request', 'execution.not_before']],
  ['a beginning before the end', 2_000, 1_000, null],
  ['a beginning at the end', 1_000, 1_000, ['invalid_request', 'execution.not_before']],
  ['a beginning after the end', 1_000, 2_000, ['invalid_request', 'execution.not_before']],
])('%s is judged when a job is made', (_what, deadline, notBefore, expected) => {
  const times = {
    deadline: deadline === null ? null : after(deadline),
    notBefore: notBefore === null ? null : after(notBefore),
  };
  const fault = findTimeFault(times, NOW);
  expect(fault === null ? null : [fault.code, fault.field]).toEqual(expected);
});

test.each([
  ['nothing', null, null, null],
  ['a deadline ahead', null, 1, null],
  ['a deadline now', null, 0, 'deadline'],
  ['a cancel', -5, null, 'cancelled'],
  ['a cancel before the deadline', -5, -3, 'cancelled'],
  ['a cancel at the deadline', -5, -5, 'cancelled'],
  ['a cancel after the deadline', -3, -5, 'deadline'],
  ['a cancel before a deadline ahead', -5, 5, 'cancelled'],
])('%s decides whether, and by what, a job is stopped', (_what, cancel, deadline, expected) => {
  const job = {
    cancelRequestedAt: cancel === null ? null : after(cancel),
    deadline: deadline === null ? null : after(deadline),
  };
  expect(stopReason(job, NOW)).toBe(expected);
});

test('shards are held back until their time, and not once the job is stopped', () => {
  const job = { cancelRequestedAt: null, deadline: null, notBefore: after(1_000) };
  expect(heldForMs(job, NOW)).toBeGreaterThanOrEqual(1_000);
  expect(heldForMs(job, NOW)).toBeLessThan(1_100);
  expect(heldForMs(job, after(1_000))).toBe(0);
  expect(heldForMs({ ...job, notBefore: null }, NOW)).toBe(0);
  expect(heldForMs({ ...job, cancelRequestedAt: NOW }, NOW)).toBe(0);
});

test('a wait ends with the deadline, and not sooner than it', () => {
  expect(untilDeadline({ deadline: null }, 5_000, NOW)).toBe(5_000);
  expect(untilDeadline({ deadline: after(60_000) }, 5_000, NOW)).toBe(5_000);
  const cut = untilDeadline({ deadline: after(2_000) }, 5_000, NOW);
  expect(cut).toBeGreaterThanOrEqual(2_000);
  expect(cut).toBeLessThan(2_100);
  expect(untilDeadline({ deadline: NOW }, 5_000, NOW)).toBe(5_000);
});
