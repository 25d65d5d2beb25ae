import { expect, test } from 'vitest';
import { failure as describeFailure } from './failure.ts';
import { outcomeWithoutRun } from './outcome.ts';
import { ZERO_USAGE } from './usage.ts';

test.each([
  ['deadline', 'expired'],
  ['batch_expired', 'expired'],
  ['job_cancelled', 'cancelled'],
  ['provider_rejected', 'failed'],
  ['provider_lost', 'failed'],
] as const)('an item that did not run for %s is %s and free', (code, status) => {
  const failure = describeFailure(code, 'because');
  expect(outcomeWithoutRun(failure)).toMatchObject({ status, usage: ZERO_USAGE, failure });
});
