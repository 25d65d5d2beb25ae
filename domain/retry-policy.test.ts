import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FAILURE_CLASSES, FAILURE_CODES, failure, failureClassOf, retryRuleOfCode } from './failure.ts';
import { outcomeWithoutRun } from './outcome.ts';
import {
  DEFAULT_RETRY_BACKOFF,
  type EndedKind,
  type RetryPolicy,
  takesAgain,
  WAVE_CLASSES,
  waveDelay,
} from './retry-policy.ts';

const POLICY: RetryPolicy = { maxAttempts: 3, classes: WAVE_CLASSES, backoff: DEFAULT_RETRY_BACKOFF };

test('what a job tries again by itself are the failures that need nobody to act', () => {
  expect(WAVE_CLASSES).toEqual(['provider_error', 'rate_limited', 'missing_result', 'unparseable_result']);
});

describe('takesAgain', () => {
  test.each<[string, Partial<EndedKind>, Partial<RetryPolicy>, boolean]>([
    ['an error of the provider', {}, {}, true],
    ['a second failure, of three tries', { attempt: 2 }, {}, true],
    ['a third failure, of three tries', { attempt: 3 }, {}, false],
    ['a failure under a policy of one try', {}, { maxAttempts: 1 }, false],
    ['a class that the policy names', { code: 'rate_limited' }, { classes: ['rate_limited'] }, true],
    ['a class that the policy leaves out', { code: 'missing_result' }, { classes: ['rate_limited'] }, false],
    ['a batch that may yet be running', { code: 'provider_lost' }, {}, false],
    ['an account out of credit', { code: 'provider_account_exhausted' }, {}, false],
    ['a refused credential', { code: 'provider_credential_rejected' }, {}, false],
    ['a queue that stayed full', { code: 'provider_queue_full' }, {}, false],
    ['what an operator gave up', { code: 'given_up' }, {}, false],
    ['a blocked answer', { code: 'safety_blocked' }, { classes: FAILURE_CLASSES }, false],
    ['an item that expired', { state: 'expired', code: 'batch_expired' }, { classes: FAILURE_CLASSES }, false],
    ['an item that was cancelled', { state: 'cancelled', code: 'job_cancelled' }, { classes: FAILURE_CLASSES }, false],
    ['an item that completed', { state: 'completed', code: '' }, {}, false],
  ])('%s', (_what, ended, policy, taken) => {
    const kind: EndedKind = { state: 'failed', code: 'provider_server_error', attempt: 1, ...ended };
    expect(takesAgain({ ...POLICY, ...policy }, kind)).toBe(taken);
  });

  test('takes a failure only by a class it names, a code that needs nobody, and with a try left', () => {
    const ends = fc.constantFrom(...FAILURE_CODES);
    const policies = fc.record({
      maxAttempts: fc.integer({ min: 1, max: 10 }),
      classes: fc.subarray([...FAILURE_CLASSES]),
    });
    fc.assert(
      fc.property(ends, policies, fc.integer({ min: 1, max: 12 }), (code, policy, attempt) => {
        const state = outcomeWithoutRun(failure(code, '')).status;
        const taken = takesAgain({ ...POLICY, ...policy }, { state, code, attempt });
        expect(taken).toBe(
          attempt < policy.maxAttempts &&
            policy.classes.includes(failureClassOf(code)) &&
            retryRuleOfCode(code) === 'automatic',
        );
      }),
    );
  });
});

describe('waveDelay', () => {
  test.each([
    [2, 60_000],
    [3, 120_000],
    [4, 240_000],
    [8, 3_600_000],
    [10, 3_600_000],
  ])('wave %i waits %i ms by default', (wave, delayMs) => {
    expect(waveDelay(DEFAULT_RETRY_BACKOFF, wave, 0)).toBe(delayMs);
  });

  test('never shortens, never passes its limit by more than a fifth, and is a whole number', () => {
    const backoffs = fc.record({
      initialSeconds: fc.double({ min: 0, max: 86_400, noNaN: true }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      maxSeconds: fc.double({ min: 0, max: 86_400, noNaN: true }),
    });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(backoffs, fc.integer({ min: 2, max: 10 }), random, (backoff, wave, random01) => {
        const delayMs = waveDelay(backoff, wave, random01);
        expect(Number.isSafeInteger(delayMs) && delayMs >= 0).toBe(true);
        expect(delayMs).toBeLessThanOrEqual(backoff.maxSeconds * 1_200 + 1);
        expect(waveDelay(backoff, wave + 1, random01)).toBeGreaterThanOrEqual(delayMs);
      }),
    );
  });
});
