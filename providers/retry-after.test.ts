import { expect, test } from 'vitest';
import { parseRetryAfterMs } from './retry-after.ts';

const now = new Date('2026-11-30T12:00:00Z');

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '0.25' }, 250],
  [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
  [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7000],
  [{ 'retry-after': 'Mon, 30 Nov 2026 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Mon, 30 Nov 2026 11:00:00 GMT' }, 0],
  // A server an hour behind this machine, by its own word.
  [{ 'retry-after': 'Mon, 30 Nov 2026 11:00:30 GMT', date: 'Mon, 30 Nov 2026 11:00:00 GMT' }, 30_000],
  [{ 'retry-after': '999999999' }, 86_400_000],
  [{ 'retry-after': 'Mon, 30 Nov 2099 12:00:00 GMT' }, 86_400_000],
  [{ 'retry-after': '-3x' }, null],
  [{ 'retry-after': '' }, null],
  [{ 'retry-after': 'Infinity' }, null],
  [{}, null],
] as [Record<string, string>, number | null][])('reads %o as %s ms', (headers, expected) => {
  expect(parseRetryAfterMs(new Headers(headers), now)).toBe(expected);
});
