import { expect, test } from 'vitest';
import { mapStatus } from './status.ts';

const counts = { processing: 0, succeeded: 5, errored: 1, canceled: 0, expired: 0 };

test.each([
  ['in_progress', 'running', null],
  ['canceling', 'cancelling', null],
  ['ended', 'ended', 'completed'],
  ['archived', 'running', null],
  ['constructor', 'running', null],
  ['', 'running', null],
])('%s is %s with end %s', (status, phase, end) => {
  expect(mapStatus(status, { counts, isCancelInitiated: false })).toEqual({ phase, end });
});

test.each([
  ['nothing canceled or expired', counts, false, 'completed'],
  ['every request errored', { ...counts, succeeded: 0 }, false, 'completed'],
  ['some canceled', { ...counts, canceled: 2 }, true, 'cancelled'],
  ['some canceled and some expired', { ...counts, canceled: 2, expired: 1 }, true, 'cancelled'],
  ['some expired', { ...counts, expired: 1 }, false, 'expired'],
  ['some expired while being canceled', { ...counts, expired: 1 }, true, 'expired'],
  ['none canceled, the cancel came too late', counts, true, 'completed'],
  ['no counts', null, false, 'completed'],
  ['no counts, cancel initiated', null, true, 'cancelled'],
])('ended with %s: the end follows', (_name, known, isCancelInitiated, end) => {
  expect(mapStatus('ended', { counts: known, isCancelInitiated })).toEqual({ phase: 'ended', end });
});
