import { expect, test } from 'vitest';
import { resendDelay } from './resend-delay.ts';

const refused = { waitedMs: 0, firstDelayMs: 1_000, retryAfterMs: null, random01: 0 };

test.each([
  ['the first wait is the setting', refused, 1_000],
  ['later waits grow with all the waiting so far', { ...refused, waitedMs: 10_000 }, 5_000],
  ['no wait is longer than half an hour', { ...refused, waitedMs: 7 * 86_400_000 }, 1_800_000],
  ['a longer setting stays what it is', { ...refused, firstDelayMs: 3_600_000 }, 3_600_000],
  ['waits spread by a fifth', { ...refused, random01: 0.5 }, 1_100],
  ['a clock that went back changes nothing', { ...refused, waitedMs: -5_000 }, 1_000],
  ["the provider's hint is kept to exactly", { ...refused, retryAfterMs: 7_000, random01: 0.9 }, 7_000],
])('%s', (_rule, send, expected) => {
  expect(resendDelay(send)).toBe(expected);
});

test('waiting for two days takes fewer than a hundred and fifty sends', () => {
  let [waitedMs, sends] = [0, 0];
  for (; waitedMs < 2 * 86_400_000; sends += 1) waitedMs += resendDelay({ ...refused, firstDelayMs: 60_000, waitedMs });
  expect(sends).toBeLessThan(150);
});
