import { describe, expect, test } from 'vitest';
import {
  FAILURE_CLASSES,
  FAILURE_CODES,
  type FailureClass,
  type FailureCode,
  failure,
  failureClassOf,
  JOB_WIDE_FAILURE_CODES,
  type RetryRule,
  retryRule,
  retryRuleOfCode,
} from './failure.ts';

test.each<[FailureClass, RetryRule]>([
  ['provider_error', 'automatic'],
  ['rate_limited', 'automatic'],
  ['missing_result', 'automatic'],
  ['unparseable_result', 'automatic'],
  ['expired', 'by_hand'],
  ['cancelled', 'by_hand'],
  ['validation', 'corrected_only'],
  ['safety_blocked', 'never_blindly'],
])('%s is retried: %s', (failureClass, rule) => {
  expect(retryRule(failureClass)).toBe(rule);
});

test.each<[FailureCode, FailureClass]>([
  ['no_provider_detail', 'provider_error'],
  ['malformed_result', 'unparseable_result'],
  ['unmatched_result', 'missing_result'],
  ['batch_expired', 'expired'],
  ['deadline', 'expired'],
  ['provider_cancelled', 'cancelled'],
  ['provider_rejected', 'validation'],
  ['safety_blocked', 'safety_blocked'],
])('%s is of class %s', (code, failureClass) => {
  expect(failureClassOf(code)).toBe(failureClass);
});

test('every class has a code and every code a class', () => {
  expect([...new Set(FAILURE_CODES.map(failureClassOf))].toSorted()).toEqual([...FAILURE_CLASSES].toSorted());
});

describe('retryRuleOfCode', () => {
  test.each(['provider_account_exhausted', 'provider_credential_rejected', 'provider_lost'] as const)(
    'leaves %s to a person',
    (code) => {
      expect(retryRuleOfCode(code)).toBe('by_hand');
    },
  );

  test('follows the class for codes of single items', () => {
    for (const code of FAILURE_CODES.filter((each) => !(JOB_WIDE_FAILURE_CODES as readonly string[]).includes(each))) {
      expect(retryRuleOfCode(code)).toBe(retryRule(failureClassOf(code)));
    }
  });
});

test('a failure carries its class and, when given, the words of the provider', () => {
  expect(failure('rate_limited', 'Too many requests.', { type: 'rate_limit_error' })).toEqual({
    class: 'rate_limited',
    code: 'rate_limited',
    message: 'Too many requests.',
    providerType: 'rate_limit_error',
    providerMessage: null,
  });
});
