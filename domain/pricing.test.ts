import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, parseAmount, roundForExport } from './money.ts';
import { createPriceBook, PUBLISHED_PRICES } from './price-book.ts';
import { type PriceRow, rates } from './price-row.ts';
import { canPrice, priceEstimate, priceUsage } from './pricing.ts';
import { addUsage, type Usage, ZERO_USAGE } from './usage.ts';

const AT = new Date('2026-11-30T00:00:00Z');
const CARD: PriceRow = {
  provider: 'openai',
  model: 'card',
  from: '2026-01-01',
  currency: 'USD',
  kind: 'chat',
  standard: rates('3', '0.3', '3.75', '15'),
  batch: rates('1.5', '0.2', '2', '7', '3'),
  batchBasis: 'published',
  longContext: {
    aboveInputTokens: 1_000,
    standard: rates('6', '0.6', '7.5', '22.5'),
    batch: rates('3', '0.3', '4', '10'),
  },
  maxOutputTokens: 1_000,
};
const usage = (overrides: Partial<Usage>): Usage => ({ ...ZERO_USAGE, ...overrides });

describe('cached tokens (M-06)', () => {
  test('are charged at the batch cache rate, the rest of the input at the batch input rate', () => {
    const cost = priceUsage(CARD, usage({ inputTokens: 1_000, cachedInputTokens: 800, outputTokens: 100 }), 'batch');
    expect(formatAmount(cost)).toBe('0.00116'); // 200 × 1.5 + 800 × 0.2 + 100 × 7, a million each
  });

  test('cost the same whether the provider counted them inside the input or beside it', () => {
    const inclusive = { inputTokens: 1_000, cachedInputTokens: 700, cacheWriteTokens: 100 };
    const exclusive = { plain: 200, read: 700, write: 100 };
    const neutral = {
      inputTokens: exclusive.plain + exclusive.read + exclusive.write,
      cachedInputTokens: exclusive.read,
      cacheWriteTokens: exclusive.write,
    };
    expect(priceUsage(CARD, usage(neutral), 'batch')).toBe(priceUsage(CARD, usage(inclusive), 'batch'));
    expect(formatAmount(priceUsage(CARD, usage(neutral), 'batch'))).toBe('0.00064'); // 200 × 1.5 + 700 × 0.2 + 100 × 2
  });

  test('written for longer cost their own rate, or the ordinary one where there is none', () => {
    const written = usage({ inputTokens: 100, cacheWriteTokens: 100, longCacheWriteTokens: 40 });
    expect(formatAmount(priceUsage(CARD, written, 'batch'))).toBe('0.00024'); // 60 × 2 + 40 × 3
    expect(formatAmount(priceUsage(CARD, written, 'standard'))).toBe('0.000375'); // 100 × 3.75
  });
});

describe('batch prices (M-07)', () => {
  test('are read from the card, not taken for half', () => {
    const read = usage({ inputTokens: 900, cachedInputTokens: 900 });
    const ratio = [priceUsage(CARD, read, 'batch') * 3n, priceUsage(CARD, read, 'standard') * 2n];
    expect(ratio[0]).toBe(ratio[1]);
  });

  test('that are missing are an error, never half', () => {
    const { longContext: _none, ...card } = { ...CARD, batch: null };
    expect(canPrice(card, 'batch')).toBe(false);
    expect(canPrice(card, 'standard')).toBe(true);
    expect(() => priceUsage(card, usage({ inputTokens: 1 }), 'batch')).toThrow(/openai\/card has no batch price/);
    expect(() => priceEstimate(card, 1, 1, 'batch')).toThrow(RangeError);
  });
});

describe('exact items (M-08)', () => {
  test('add up without rounding: 10 000 items of 0.0000004', () => {
    const tiny: PriceRow = { ...CARD, batch: rates('0.4', '0.4', '0.4', '0.4') };
    const item = priceUsage(tiny, usage({ inputTokens: 1 }), 'batch');
    expect(formatAmount(item)).toBe('0.0000004');
    const total = Array.from({ length: 10_000 }, () => item).reduce((sum, cost) => sum + cost, 0n);
    expect(roundForExport(total, 2)).toBe('0.00');
    expect(formatAmount(total)).toBe('0.004');
  });

  test.each([
    [1_000, '0.0015'],
    [1_001, '0.003003'],
  ])('an item of %i input tokens is charged by its own tier: %s', (inputTokens, cost) => {
    expect(formatAmount(priceUsage(CARD, usage({ inputTokens }), 'batch'))).toBe(cost);
  });

  test('two items below a tier cost less than one of their sum', () => {
    const half = usage({ inputTokens: 600 });
    const sum = priceUsage(CARD, addUsage(half, half), 'batch');
    expect(2n * priceUsage(CARD, half, 'batch')).toBeLessThan(sum);
  });

  test.each([
    ['gemini', 'gemini-2.5-pro', 200_000, '0.125', '0.25000125'],
    ['openai', 'gpt-5.6-terra', 272_000, '0.272', '0.544002'],
    ['anthropic', 'claude-haiku-5-5', 100_000, '0.005', '0.02500025'],
  ] as const)('%s/%s changes its tier above %i tokens', (provider, model, limit, below, above) => {
    const price = createPriceBook(PUBLISHED_PRICES).find(provider, model, AT);
    if (price === null) throw new Error('the book knows the model');
    expect(formatAmount(priceUsage(price, usage({ inputTokens: limit }), 'batch'))).toBe(below);
    expect(formatAmount(priceUsage(price, usage({ inputTokens: limit + 1 }), 'batch'))).toBe(above);
  });
});

test('prices a group by the tier of its longest item', () => {
  expect(priceEstimate(CARD, 4_000, 10, 'batch', 900)).toBe(parseAmount('0.00607'));
  expect(priceEstimate(CARD, 4_000, 10, 'batch', 1_001)).toBe(parseAmount('0.0121'));
});

test('refuses a rate finer than a millionth', () => {
  const card: PriceRow = { ...CARD, standard: rates('0.0000001', '0', '0', '0') };
  expect(() => priceUsage(card, ZERO_USAGE, 'standard')).toThrow(/at most six decimals/);
});

const anyRow = fc.constantFrom(...PUBLISHED_PRICES);
const anyMode = fc.constantFrom('batch' as const, 'standard' as const);
const tokens = fc.nat({ max: 400_000 });

test('never prices below zero, and free models at zero', () => {
  const anyUsage = fc.record({
    inputTokens: tokens,
    cachedInputTokens: tokens,
    cacheWriteTokens: tokens,
    longCacheWriteTokens: tokens,
    outputTokens: tokens,
    reasoningTokens: tokens,
    estimated: fc.boolean(),
  });
  fc.assert(
    fc.property(anyRow, anyUsage, anyMode, (row, used, mode) => {
      const cost = priceUsage(row, used, mode);
      expect(cost).toBeGreaterThanOrEqual(0n);
      if (row.batchBasis === 'free') expect(cost).toBe(0n);
    }),
  );
});

test('is additive within a tier', () => {
  const small = fc.nat({ max: 40_000 });
  const smallUsage = fc.tuple(small, small, small, small).map(([plain, cached, written, output]) =>
    usage({
      inputTokens: plain + cached + written,
      cachedInputTokens: cached,
      cacheWriteTokens: written,
      outputTokens: output,
    }),
  );
  fc.assert(
    fc.property(anyRow, smallUsage, smallUsage, anyMode, (row, one, other, mode) => {
      const both = addUsage(one, other);
      fc.pre(both.inputTokens <= (row.longContext?.aboveInputTokens ?? Number.POSITIVE_INFINITY));
      expect(priceUsage(row, both, mode)).toBe(priceUsage(row, one, mode) + priceUsage(row, other, mode));
    }),
  );
});
