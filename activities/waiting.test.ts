import { expect, test } from 'vitest';
import { waitedMs, waitingAfterAnswer } from './waiting.ts';

const ENDS = { waiting: null };
const GOES_ON = {};

test.each([
  ['provider_capacity', { phase: 'validating', capacityRefused: false }, GOES_ON],
  ['provider_capacity', { phase: 'ended', capacityRefused: true }, GOES_ON],
  ['provider_capacity', { phase: 'running', capacityRefused: false }, ENDS],
  ['provider_capacity', { phase: 'ended', capacityRefused: false }, ENDS],
  ['provider_trouble', { phase: 'validating', capacityRefused: false }, ENDS],
  ['batch_denied', { phase: 'ended', capacityRefused: true }, ENDS],
  [null, { phase: 'validating', capacityRefused: false }, ENDS],
] as const)('a wait for %s, answered with %o, becomes %o', (waitingReason, batch, expected) => {
  expect(waitingAfterAnswer({ waitingReason }, batch)).toEqual(expected);
});

test('only the wait for the very reason counts', () => {
  const shard = { waitingReason: 'provider_capacity', waitingSince: new Date(1_000) };
  expect(waitedMs(shard, 'provider_capacity', new Date(5_000))).toBe(4_000);
  expect(waitedMs(shard, 'batch_denied', new Date(5_000))).toBe(0);
  expect(waitedMs({ waitingReason: null, waitingSince: null }, 'batch_denied', new Date(5_000))).toBe(0);
});
