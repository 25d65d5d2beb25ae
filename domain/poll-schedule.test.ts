import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateCompletion, learnedExpectedEnd, nextPollDelay, type PollSituation } from './poll-schedule.ts';

const HOUR = 3_600_000;
const policy = { minMs: 2_000, maxMs: 600_000, factor: 1.5, jitter: 0 };
const situation = (overrides: Partial<PollSituation>): PollSituation => ({
  ageMs: 0,
  pollsWithoutChange: 0,
  expectedEndInMs: null,
  progress: null,
  progressRate: null,
  policy,
  random01: 0.5,
  ...overrides,
});

describe('nextPollDelay', () => {
  test.each<[string, Partial<PollSituation>, number]>([
    ['asks again at once at first', {}, 2_000],
    ['waits longer while nothing changes', { ageMs: HOUR, pollsWithoutChange: 4 }, 10_125],
    ['does not leave a young batch alone for long', { ageMs: 20_000, pollsWithoutChange: 30 }, 7_000],
    ['is capped in the long run', { ageMs: 20 * HOUR, pollsWithoutChange: 5_000 }, 600_000],
    ['closes in on the expected end', { ageMs: HOUR, pollsWithoutChange: 30, expectedEndInMs: 60_000 }, 30_000],
    ['is at its shortest when the end is due', { ageMs: HOUR, pollsWithoutChange: 30, expectedEndInMs: 0 }, 2_000],
    ['eases off when the end is overdue', { ageMs: HOUR, pollsWithoutChange: 30, expectedEndInMs: -400_000 }, 200_000],
    [
      'trusts progress before what was learned',
      {
        ageMs: HOUR,
        pollsWithoutChange: 30,
        expectedEndInMs: HOUR,
        progress: { done: 900, total: 1_000 },
        progressRate: 2,
      },
      25_000,
    ],
    [
      'does without progress that does not move',
      { ageMs: HOUR, pollsWithoutChange: 30, progress: { done: 5, total: 10 }, progressRate: 0 },
      600_000,
    ],
  ])('%s', (_what, overrides, delayMs) => {
    expect(nextPollDelay(situation(overrides))).toBe(delayMs);
  });

  test('spreads by its jitter, evenly to both sides', () => {
    const aged = { ageMs: HOUR, pollsWithoutChange: 4, policy: { ...policy, jitter: 0.2 } };
    const delays = [0, 0.5, 1].map((random01) => nextPollDelay(situation({ ...aged, random01 })));
    expect(delays).toEqual([8_100, 10_125, 12_150]);
  });

  test('stays within the bounds of the policy, whatever the situation', () => {
    const anyNumber = fc.double({ noNaN: true, min: -1e15, max: 1e15 });
    const anySituation = fc.record({
      ageMs: anyNumber,
      pollsWithoutChange: fc.nat(),
      expectedEndInMs: fc.option(anyNumber),
      progress: fc.option(fc.record({ done: fc.nat(), total: fc.nat() })),
      progressRate: fc.option(anyNumber),
      random01: fc.double({ min: 0, max: 1, noNaN: true }),
      policy: fc.record({
        minMs: fc.integer({ min: 1, max: 10_000 }),
        maxMs: fc.integer({ min: 10_000, max: 10_000_000 }),
        factor: fc.double({ min: 1, max: 10, noNaN: true }),
        jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    });
    fc.assert(
      fc.property(anySituation, (any) => {
        const delayMs = nextPollDelay(any);
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs >= any.policy.minMs && delayMs <= any.policy.maxMs).toBe(true);
      }),
    );
  });

  test('asks fewer than 300 times in a day of no change', () => {
    let [ageMs, polls] = [0, 0];
    for (; ageMs < 24 * HOUR; polls += 1) ageMs += nextPollDelay(situation({ ageMs, pollsWithoutChange: polls }));
    expect(polls).toBeLessThan(300);
  });
});

test.each([
  [{ done: 40, total: 100 }, 2, 30_000],
  [{ done: 120, total: 100 }, 2, 0],
  [{ done: 0, total: 0 }, 2, 0],
  [{ done: 40, total: 100 }, 0, null],
  [{ done: 40, total: 100 }, -1, null],
  [{ done: 40, total: 100 }, null, null],
  [null, 2, null],
])('%j at %s items a second is complete in %s ms', (progress, rate, ms) => {
  expect(estimateCompletion(progress, rate)).toBe(ms);
});

describe('learnedExpectedEnd', () => {
  const sample = (durationMs: number, itemCount = 1_000) => ({ durationMs, itemCount });

  test.each([
    ['knows nothing from two batches', [sample(1), sample(2)], null],
    ['takes the middle of three, not the mean', [sample(10), sample(1_000_000), sample(20)], 20],
    ['takes the mean of the middle two', [sample(10), sample(20), sample(40), sample(90)], 30],
    [
      'prefers batches of like size',
      [sample(10), sample(20), sample(30), ...[1, 2, 3, 4].map(() => sample(9_999, 50_000))],
      20,
    ],
    ['falls back to all sizes', [sample(10, 1), sample(20, 2), sample(30, 90_000)], 20],
  ])('%s', (_what, samples, expected) => {
    expect(learnedExpectedEnd(samples, 1_000)).toBe(expected);
  });
});
