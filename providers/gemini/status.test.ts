import { expect, test } from 'vitest';
import { mapStatus } from './status.ts';

test.each([
  ['BATCH_STATE_PENDING', 'validating', null],
  ['BATCH_STATE_RUNNING', 'running', null],
  ['BATCH_STATE_SUCCEEDED', 'ended', 'completed'],
  ['BATCH_STATE_FAILED', 'ended', 'failed'],
  ['BATCH_STATE_CANCELLED', 'ended', 'cancelled'],
  ['BATCH_STATE_EXPIRED', 'ended', 'expired'],
  ['JOB_STATE_QUEUED', 'validating', null],
  ['JOB_STATE_PAUSED', 'running', null],
  ['JOB_STATE_CANCELLING', 'cancelling', null],
  ['JOB_STATE_PARTIALLY_SUCCEEDED', 'ended', 'completed'],
  ['BATCH_STATE_UNSPECIFIED', 'running', null],
  ['BATCH_STATE_ARCHIVED', 'running', null],
  ['constructor', 'running', null],
  ['', 'running', null],
])('%s is %s with end %s', (status, phase, end) => {
  expect(mapStatus(status)).toEqual({ phase, end });
});
