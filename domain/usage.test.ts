import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addUsage, MAX_PLAUSIBLE_TOKENS, type RawUsage, sanitiseUsage, type Usage, ZERO_USAGE } from './usage.ts';

const FALLBACK = { inputTokens: 70, outputTokens: 30 };
const usage = (overrides: Partial<Usage>): Usage => ({ ...ZERO_USAGE, ...overrides });

describe('sanitiseUsage', () => {
  test('takes good counts as they are', () => {
    const raw = {
      inputTokens: 1000,
      cachedInputTokens: 800,
      cacheWriteTokens: 50,
      outputTokens: 100,
      reasoningTokens: 60,
    };
    expect(sanitiseUsage(raw, FALLBACK)).toEqual({ ...raw, estimated: false });
  });

  test('keeps an explicit zero, which is what the provider said', () => {
    expect(sanitiseUsage({ inputTokens: 0, outputTokens: 0 }, FALLBACK)).toEqual(ZERO_USAGE);
  });

  test('reads counts written as digits', () => {
    expect(sanitiseUsage({ inputTokens: '12', outputTokens: '0' }, FALLBACK)).toEqual(usage({ inputTokens: 12 }));
  });

  test.each([null, undefined, {}])('falls back whole for %j and says so', (raw) => {
    expect(sanitiseUsage(raw, FALLBACK)).toEqual(usage({ ...FALLBACK, estimated: true }));
  });

  test.each([
    null,
    undefined,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 60,
    MAX_PLAUSIBLE_TOKENS + 1,
    '1e3',
    '-4',
    '',
    true,
    [7],
    {},
  ])('estimates the input alone when it is %j', (inputTokens) => {
    expect(sanitiseUsage({ inputTokens, outputTokens: 5 }, FALLBACK)).toEqual(
      usage({ inputTokens: 70, outputTokens: 5, estimated: true }),
    );
  });

  test.each(['cachedInputTokens', 'cacheWriteTokens', 'longCacheWriteTokens', 'reasoningTokens'] as const)(
    'charges %s at the full rate when it is garbage, and leaves it out when it is null',
    (part) => {
      const whole = { inputTokens: 10, outputTokens: 5 };
      expect(sanitiseUsage({ ...whole, [part]: -3 }, FALLBACK)).toEqual(usage({ ...whole, estimated: true }));
      expect(sanitiseUsage({ ...whole, [part]: null }, FALLBACK)).toEqual(usage(whole));
    },
  );

  test.each<[string, RawUsage, Partial<Usage>]>([
    [
      'input below its cached and written parts',
      { inputTokens: 10, cachedInputTokens: 80, cacheWriteTokens: 20, outputTokens: 1 },
      { inputTokens: 100, cachedInputTokens: 80, cacheWriteTokens: 20, outputTokens: 1 },
    ],
    [
      'output below its reasoning',
      { inputTokens: 10, outputTokens: 1, reasoningTokens: 9 },
      { inputTokens: 10, outputTokens: 9, reasoningTokens: 9 },
    ],
    [
      'cache writes below their long-lived part',
      { inputTokens: 10, cacheWriteTokens: 2, longCacheWriteTokens: 6, outputTokens: 1 },
      { inputTokens: 10, cacheWriteTokens: 6, longCacheWriteTokens: 6, outputTokens: 1 },
    ],
  ])('raises %s', (_what, raw, expected) => {
    expect(sanitiseUsage(raw, FALLBACK)).toEqual(usage({ ...expected, estimated: true }));
  });

  test('always gives whole, plausible counts whose parts fit, whatever comes in', () => {
    const anyCount = fc.oneof(fc.anything(), fc.integer(), fc.double(), fc.integer({ min: 0, max: 2_000 }));
    const anyRaw = fc.record({
      inputTokens: anyCount,
      cachedInputTokens: anyCount,
      cacheWriteTokens: anyCount,
      longCacheWriteTokens: anyCount,
      outputTokens: anyCount,
      reasoningTokens: anyCount,
    });
    fc.assert(
      fc.property(anyRaw, (raw) => {
        const { estimated, longCacheWriteTokens = 0, ...counts } = sanitiseUsage(raw, FALLBACK);
        for (const count of Object.values(counts)) expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
        expect(counts.cachedInputTokens + counts.cacheWriteTokens).toBeLessThanOrEqual(counts.inputTokens);
        expect(longCacheWriteTokens).toBeLessThanOrEqual(counts.cacheWriteTokens);
        expect(counts.reasoningTokens).toBeLessThanOrEqual(counts.outputTokens);
        expect(typeof estimated).toBe('boolean');
      }),
    );
  });
});

test('adds counts and stays estimated once any part was', () => {
  const one = usage({ inputTokens: 1, cacheWriteTokens: 1, longCacheWriteTokens: 1, outputTokens: 2 });
  const other = usage({ inputTokens: 10, cachedInputTokens: 5, reasoningTokens: 4, outputTokens: 20, estimated: true });
  expect(addUsage(one, other)).toEqual({
    inputTokens: 11,
    cachedInputTokens: 5,
    cacheWriteTokens: 1,
    longCacheWriteTokens: 1,
    outputTokens: 22,
    reasoningTokens: 4,
    estimated: true,
  });
  expect(addUsage(ZERO_USAGE, ZERO_USAGE)).toEqual(ZERO_USAGE);
});
