import { expect, test } from 'vitest';
import { countFailure, restartDelayMs } from './restart-delay.ts';

test.each([
  [1, 250],
  [2, 500],
  [3, 1_000],
  [6, 8_000],
  [7, 10_000],
  [40, 10_000],
])('after death %i in a row the process waits %i ms', (failures, delayMs) => {
  expect(restartDelayMs(failures)).toBe(delayMs);
});

test('a process that ran long starts a new row of failures', () => {
  expect(countFailure(5, 100)).toBe(6);
  expect(countFailure(5, 30_000)).toBe(1);
});
