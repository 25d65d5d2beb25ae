import { expect, test } from 'vitest';
import { classOfCall, isWithinRate, rateLimitHeaders, secondsToReset } from './rate-limit.ts';

test.each([
  ['GET', true, 'read'],
  ['HEAD', false, 'read'],
  ['POST', false, 'write'],
  ['DELETE', false, 'write'],
  ['POST', true, 'upload'],
  ['PUT', true, 'upload'],
])('%s, bringing items: %s, is a %s', (method, bringsItems, expected) => {
  expect(classOfCall(method, bringsItems)).toBe(expected);
});

test('headers never tell less than nothing, nor a reset that has passed', () => {
  const standing = { limit: 10, used: 14, resetMs: -5 };
  expect(isWithinRate(standing)).toBe(false);
  expect(rateLimitHeaders(standing)).toEqual({
    'RateLimit-Policy': '"requests";q=10;w=60',
    RateLimit: '"requests";r=0;t=1',
  });
  expect(rateLimitHeaders(standing, 'status').RateLimit).toBe('"status";r=0;t=1');
  expect(isWithinRate({ limit: 10, used: 10, resetMs: 1_500 })).toBe(true);
  expect(secondsToReset({ limit: 10, used: 10, resetMs: 1_500 })).toBe(2);
});
