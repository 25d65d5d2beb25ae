import { expect, test } from 'vitest';
import { describeCounts, doneItems, hasEnded, percent, settledItems, wasRefused } from './job-progress.ts';
import { counts, fakeJob } from './testing/fake-job.ts';

const MIXED = fakeJob({ counts: counts(10, { completed: 3, failed: 1, expired: 1, cancelled: 2 }) });

test('settled are items however they ended', () => {
  expect(settledItems(MIXED)).toBe(7);
  expect(describeCounts(MIXED)).toBe('3 completed, 1 failed, 1 expired, 2 cancelled');
  expect(describeCounts(fakeJob({ counts: counts(2) }))).toBe('0 completed');
});

test.each([
  [{ completed: 8, failed: 1 }, 9],
  [{ completed: 2, failed: null }, 7],
  [{ completed: 90, failed: 9 }, 10],
])("the provider's word %j is a hint that neither lowers nor exceeds", (progress, done) => {
  expect(doneItems({ ...MIXED, progress: { ...progress, as_of: '2026-08-19T10:00:00.000Z' } })).toBe(done);
});

test.each([
  [0, 0, 0],
  [999, 1000, 99],
  [1000, 1000, 100],
])('%i of %i are %i%%', (part, whole, share) => {
  expect(percent(part, whole)).toBe(share);
});

test.each([
  ['running', false],
  ['cancel_requested', false],
  ['completed', true],
  ['completed_with_errors', true],
  ['expired', true],
  ['cancelled', true],
  ['failed', true],
] as const)('%s has ended: %s', (status, ended) => {
  expect(hasEnded(fakeJob({ status }))).toBe(ended);
});

test('a draft with a refusal was refused', () => {
  expect(wasRefused(fakeJob({ refusal: { error: 'model_unknown', message: 'm' } }))).toBe(true);
  expect(wasRefused(fakeJob())).toBe(false);
});
