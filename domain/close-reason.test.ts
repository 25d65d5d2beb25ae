import { expect, test } from 'vitest';
import { CLOSE_REASONS, type CloseReason, remainderOutcome } from './close-reason.ts';
import { failureClassOf } from './failure.ts';

const ENDS: { [reason in CloseReason]: [state: string, code: string] } = {
  cancelled: ['cancelled', 'job_cancelled'],
  batch_cancelled: ['cancelled', 'provider_cancelled'],
  deadline: ['expired', 'deadline'],
  batch_expired: ['expired', 'batch_expired'],
  batch_completed: ['failed', 'missing_result'],
  batch_failed: ['failed', 'provider_rejected'],
  rejected: ['failed', 'provider_rejected'],
  lost: ['failed', 'provider_lost'],
  given_up: ['failed', 'given_up'],
  capacity_exhausted: ['failed', 'provider_queue_full'],
  credential_refused: ['failed', 'provider_credential_rejected'],
  account_exhausted: ['failed', 'provider_account_exhausted'],
  attempts_exhausted: ['failed', 'provider_server_error'],
};

test.each(CLOSE_REASONS)('an item without a result in a shard closed as %s', (reason) => {
  const { state, failure } = remainderOutcome(reason);
  expect([state, failure.code]).toEqual(ENDS[reason]);
  expect(failure.class).toBe(failureClassOf(failure.code));
  expect(failure.message).not.toBe('');
});
