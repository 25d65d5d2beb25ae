import { expect, test } from 'vitest';
import { WAVE_CLASSES } from '../domain/retry-policy.ts';
import { CreateJob } from './create-job.ts';
import { RetryPolicyInput, readRetryPolicy } from './retry-policy.ts';

const JOB = { endpoint: 'chat.completions', model: 'analysis-large' };

test.each<[string, unknown, string, string]>([
  ['no whole number of tries', { max_attempts: 1.5 }, 'max_attempts', 'must be a whole number from 1 to 10'],
  ['a number as text', { max_attempts: '3' }, 'max_attempts', 'must be a whole number from 1 to 10'],
  ['no try', { max_attempts: 0 }, 'max_attempts', 'must be at least 1'],
  [
    'too many tries',
    { max_attempts: 11 },
    'max_attempts',
    'must be at most 10; retry what still fails then in a new job',
  ],
  ['no classes', { classes: [] }, 'classes', '>=1'],
  ['a class that only people retry', { classes: ['expired'] }, 'classes.0', 'retried by hand'],
  [
    'a class that is never retried blindly',
    { classes: ['rate_limited', 'safety_blocked'] },
    'classes.1',
    'must be one of provider_error, rate_limited, missing_result, unparseable_result',
  ],
  ['a class twice', { classes: ['rate_limited', 'rate_limited'] }, 'classes.1', 'must not repeat'],
  ['a word that is no class', { classes: ['bad_luck'] }, 'classes.0', 'provider_error'],
  ['a negative wait', { backoff: { initial_seconds: -1 } }, 'backoff.initial_seconds', 'must be 0 seconds or more'],
  [
    'a wait of more than a day',
    { backoff: { initial_seconds: 86_401 } },
    'backoff.initial_seconds',
    'at most 86400 seconds',
  ],
  ['waits that shrink', { backoff: { factor: 0.5 } }, 'backoff.factor', 'must be at least 1'],
  ['waits that explode', { backoff: { factor: 11 } }, 'backoff.factor', 'must be at most 10'],
  [
    'a limit below the first wait',
    { backoff: { initial_seconds: 10, max_seconds: 5 } },
    'backoff.max_seconds',
    'must not be less than initial_seconds',
  ],
  [
    'a limit below the first wait that is not set',
    { backoff: { max_seconds: 5 } },
    'backoff.max_seconds',
    'must not be less than initial_seconds (60',
  ],
  ['a field nobody knows', { attempts: 3 }, '', 'attempts'],
])('a retry policy with %s is refused, naming the field and what would do', (_what, policy, field, message) => {
  const result = CreateJob.safeParse({ ...JOB, retry_policy: policy });
  const issue = result.error?.issues[0];
  expect(issue?.path.join('.')).toBe(field === '' ? 'retry_policy' : `retry_policy.${field}`);
  expect(issue?.message).toContain(message);
});

test.each([
  [{}, { maxAttempts: 1, classes: WAVE_CLASSES, backoff: { initialSeconds: 60, factor: 2, maxSeconds: 3_600 } }],
  [
    { max_attempts: 10, classes: ['missing_result'], backoff: { initial_seconds: 0, factor: 1.5, max_seconds: 0 } },
    { maxAttempts: 10, classes: ['missing_result'], backoff: { initialSeconds: 0, factor: 1.5, maxSeconds: 0 } },
  ],
  [
    { max_attempts: 2, backoff: { initial_seconds: 7_200 } },
    { maxAttempts: 2, classes: WAVE_CLASSES, backoff: { initialSeconds: 7_200, factor: 2, maxSeconds: 7_200 } },
  ],
])('of %j the rest is filled in', (given, policy) => {
  expect(readRetryPolicy(RetryPolicyInput.parse(given))).toEqual(policy);
});
