import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EVENT_TYPES } from './event.ts';
import { busyDelay, eventSubjectOf, giveUpAfterMs, nextAttemptDelay, takesEvent } from './webhook-delivery.ts';

const HOUR_MS = 3_600_000;
const DAY = { giveUpAfterMs: 24 * HOUR_MS, remainingMs: 24 * HOUR_MS, retryAfterMs: null, random01: 0.5 };

test('waits grow from 5 s to an hour, or to a sixth of a shorter time', () => {
  const waits = (giveUp: number, remainingMs: number) =>
    [1, 2, 3, 20, 1_000].map((attempt) => nextAttemptDelay({ ...DAY, attempt, giveUpAfterMs: giveUp, remainingMs }));
  expect(waits(24 * HOUR_MS, 24 * HOUR_MS)).toEqual([5_000, 10_000, 20_000, HOUR_MS, HOUR_MS]);
  expect(waits(HOUR_MS / 2, HOUR_MS / 2)).toEqual([5_000, 10_000, 20_000, 300_000, 300_000]);
});

test('the last attempt is made when the time is over, and none after it', () => {
  expect(nextAttemptDelay({ ...DAY, attempt: 20, remainingMs: 7_000 })).toBe(7_000);
  expect(nextAttemptDelay({ ...DAY, attempt: 20, remainingMs: 0 })).toBeNull();
  expect(busyDelay({ waits: 3, remainingMs: 0, random01: 0 })).toBeNull();
});

test('jitter is a fifth either way, and what is asked for never passes an hour or the end', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.option(fc.integer({ min: 0, max: 100 * HOUR_MS })),
      fc.integer({ min: 1, max: 24 * HOUR_MS }),
      (attempt, random01, retryAfterMs, remainingMs) => {
        const delay = nextAttemptDelay({ ...DAY, attempt, random01, retryAfterMs, remainingMs }) ?? 0;
        expect(delay).toBeGreaterThan(0);
        expect(delay).toBeLessThanOrEqual(Math.min(1.2 * HOUR_MS + 1, remainingMs));
        if (retryAfterMs !== null) expect(delay).toBeGreaterThanOrEqual(Math.min(retryAfterMs, HOUR_MS, remainingMs));
        const plain = Math.min(5_000 * 2 ** (attempt - 1), HOUR_MS);
        if (retryAfterMs === null && remainingMs === 24 * HOUR_MS) expect(delay).toBeGreaterThanOrEqual(0.8 * plain);
      },
    ),
  );
});

test('a receiver with enough to do is asked again after longer and longer', () => {
  const delays = [0, 1, 2, 30].map((waits) => busyDelay({ waits, remainingMs: HOUR_MS, random01: 0.5 }));
  expect(delays).toEqual([1_000, 2_000, 4_000, 300_000]);
});

test('every event has a subject, which says how long it is tried; an endpoint may say otherwise', () => {
  const hours = EVENT_TYPES.map((type) => [type, giveUpAfterMs(type, null) / HOUR_MS] as const);
  expect(hours.filter(([, value]) => value !== 24)).toEqual([
    ['task.completed', 0.5],
    ['task.failed', 0.5],
  ]);
  expect(eventSubjectOf('batch_schedule.run_failed')).toBe('schedule');
  expect(giveUpAfterMs('batch_job.completed', 60)).toBe(60_000);
  expect(giveUpAfterMs('webhook.test', 86_400)).toBe(300_000);
});

test('without a list an endpoint takes all but what is to be named', () => {
  expect(EVENT_TYPES.filter((type) => !takesEvent(null, type))).toEqual(['ledger.difference']);
  expect(takesEvent(['ledger.difference'], 'ledger.difference')).toBe(true);
  expect(takesEvent(['batch_job.failed'], 'batch_job.completed')).toBe(false);
});
