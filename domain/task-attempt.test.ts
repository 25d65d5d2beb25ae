import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FAILURE_CODES, retryRuleOfCode } from './failure.ts';
import { FAILURE_MESSAGES } from './failure-messages.ts';
import {
  isTransient,
  MAX_TASK_RETRY_AFTER_MS,
  nextAttemptDelay,
  TASK_ERROR_CODES,
  taskErrorCode,
  taskErrorMessage,
} from './task-attempt.ts';

const FAILED = {
  code: 'provider_overloaded',
  attempts: 1,
  maxAttempts: 5,
  firstDelayMs: 2_000,
  retryAfterMs: null,
  random01: 0.5,
} as const;

describe('what is tried again', () => {
  test.each([
    'provider_timeout',
    'rate_limited',
    'provider_server_error',
    'provider_overloaded',
    'provider_unreachable',
    'worker_lost',
    'malformed_result',
  ] as const)('%s', (code) => {
    expect(isTransient(code)).toBe(true);
    expect(nextAttemptDelay({ ...FAILED, code })).toBe(2_000);
  });

  test.each([
    'invalid_request',
    'context_too_long',
    'model_unavailable',
    'safety_blocked',
    'provider_credential_rejected',
    'provider_account_exhausted',
  ] as const)('not %s, whatever the provider asks for', (code) => {
    expect(isTransient(code)).toBe(false);
    expect(nextAttemptDelay({ ...FAILED, code, retryAfterMs: 1_000 })).toBeNull();
  });

  test('a code that needs nobody to act first, and no other', () => {
    for (const code of FAILURE_CODES) expect(isTransient(code)).toBe(retryRuleOfCode(code) === 'automatic');
  });
});

describe('the wait before the next attempt', () => {
  test('is three times as long each time, and there is none after the last', () => {
    const waits = [1, 2, 3, 4, 5, 6].map((attempts) => nextAttemptDelay({ ...FAILED, attempts }));
    expect(waits).toEqual([2_000, 6_000, 18_000, 54_000, null, null]);
  });

  test('is never before the time that the provider asked for, as far as that is ten minutes', () => {
    expect(nextAttemptDelay({ ...FAILED, retryAfterMs: 30_000, random01: 0 })).toBe(30_000);
    expect(nextAttemptDelay({ ...FAILED, retryAfterMs: 30_000 })).toBe(33_000);
    expect(nextAttemptDelay({ ...FAILED, retryAfterMs: 86_400_000, random01: 0 })).toBe(600_000);
  });

  test('keeps its bounds whatever comes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FAILURE_CODES),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 300_000 }),
        fc.option(fc.integer({ min: 0, max: 86_400_000 })),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (code, attempts, maxAttempts, firstDelayMs, retryAfterMs, random01) => {
          const delay = nextAttemptDelay({ code, attempts, maxAttempts, firstDelayMs, retryAfterMs, random01 });
          if (!isTransient(code) || attempts >= maxAttempts) {
            expect(delay).toBeNull();
            return;
          }
          const asked = Math.min(retryAfterMs ?? 0, MAX_TASK_RETRY_AFTER_MS);
          const most = Math.max(1.5 * 300_000, 1.2 * asked) + 1;
          expect(delay).toBeGreaterThanOrEqual(Math.max(asked, firstDelayMs / 2));
          expect(delay).toBeLessThanOrEqual(most);
          expect(Number.isSafeInteger(delay)).toBe(true);
        },
      ),
    );
  });

  test('tasks refused together come back apart', () => {
    const waits = [0, 0.3, 0.9].map((random01) => nextAttemptDelay({ ...FAILED, random01 }));
    expect(new Set(waits).size).toBe(3);
    const asked = [0, 0.3, 0.9].map((random01) => nextAttemptDelay({ ...FAILED, retryAfterMs: 60_000, random01 }));
    expect(new Set(asked).size).toBe(3);
  });
});

describe('what a task shows as its error', () => {
  test('is a word of a closed list, for every failure of an item', () => {
    for (const code of FAILURE_CODES) expect(TASK_ERROR_CODES).toContain(taskErrorCode(code));
    expect(TASK_ERROR_CODES.every((code) => /^[A-Z]+(_[A-Z]+)*$/.test(code))).toBe(true);
    expect(new Set(TASK_ERROR_CODES).size).toBe(TASK_ERROR_CODES.length);
    expect(taskErrorCode('job_cancelled')).toBe('CANCELLED');
    expect(taskErrorCode('worker_lost')).toBe('LEASE_LOST');
  });

  test('comes with a message of ours', () => {
    expect(taskErrorMessage('SAFETY_BLOCKED')).toBe(FAILURE_MESSAGES.safety_blocked);
    expect(taskErrorMessage('LEASE_LOST')).toBe(FAILURE_MESSAGES.worker_lost);
    expect(taskErrorMessage('CANCELLED')).toBe('The task was cancelled.');
    expect(taskErrorMessage('SOMETHING_OLD')).toBe(FAILURE_MESSAGES.unknown_provider_error);
  });
});
