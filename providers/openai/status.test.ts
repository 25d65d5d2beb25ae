import { expect, test } from 'vitest';
import { mapStatus } from './status.ts';

test.each([
  ['validating', 'validating', null],
  ['in_progress', 'running', null],
  ['finalizing', 'finalizing', null],
  ['cancelling', 'cancelling', null],
  ['completed', 'ended', 'completed'],
  ['failed', 'ended', 'failed'],
  ['expired', 'ended', 'expired'],
  ['cancelled', 'ended', 'cancelled'],
  ['COMPLETED', 'ended', 'completed'],
  ['IN_PROGRESS', 'running', null],
  ['archived', 'running', null],
  ['constructor', 'running', null],
  ['', 'running', null],
])('%s is %s with end %s', (status, phase, end) => {
  expect(mapStatus(status)).toEqual({ phase, end });
});
