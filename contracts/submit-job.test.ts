import { expect, test } from 'vitest';
import { waitSeconds } from './submit-job.ts';

test.each([
  [undefined, 10],
  ['', 10],
  ['wait=0', 0],
  ['wait=7', 7],
  ['Wait = 7', 7],
  ['wait="7"', 7],
  ['respond-async, wait=7; x=1', 7],
  ['wait=61', 60],
  ['wait=-1', 10],
  ['wait=1.5', 10],
  ['await=3', 10],
])('Prefer %s is a wait of %i seconds', (prefer, seconds) => {
  expect(waitSeconds(prefer)).toBe(seconds);
});
