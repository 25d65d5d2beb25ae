import { describe, expect, test } from 'vitest';
import { parseAmount } from './money.ts';
import { createPriceBook, PUBLISHED_PRICES } from './price-book.ts';
import { type PriceRow, rates } from './price-row.ts';

const AT = new Date('2026-11-30T12:00:00Z');
const BOOK = createPriceBook(PUBLISHED_PRICES);

describe('a price', () => {
  test.each([
    ['openai', 'gpt-4o-mini', 'gpt-4o-mini'],
    ['openai', 'gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
    ['openai', 'gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
    ['openai', 'omni-moderation-2024-09-26', 'omni-moderation-latest'],
    ['openai', 'text-moderation', 'text-moderation-latest'],
    ['anthropic', 'claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
    ['gemini', 'gemini-embedding-001', 'gemini-embedding-001'],
  ] as const)('prices %s/%s by the row of %s', (provider, model, row) => {
    expect(BOOK.find(provider, model, AT)?.model).toBe(row);
  });

  test.each([
    ['openai', 'claude-haiku-4-5'],
    ['anthropic', 'claude-mythos-5'],
    ['openai', 'gpt-4o-mini-2024-07'],
    ['openai', 'gpt-4o-mini-tuned'],
    ['openai', ''],
    ['openai', 'constructor'],
  ] as const)('knows no price of %s/%s', (provider, model) => {
    expect(BOOK.find(provider, model, AT)).toBeNull();
  });

  test.each([
    ['openai', 'gpt-5.6-sol', '2026-11-21T23:59:59Z', '4'],
    ['openai', 'gpt-5.6-sol', '2026-11-22T00:00:00Z', '5'],
    ['gemini', 'gemini-3.8-flash', '2026-12-31T23:59:59Z', '0.75'],
    ['gemini', 'gemini-3.8-flash', '2027-01-01T00:00:00Z', '1.5'],
  ] as const)('prices %s/%s at %s by the row then in force', (provider, model, at, input) => {
    expect(BOOK.find(provider, model, new Date(at))?.standard.input).toBe(input);
  });

  test('knows no price before the book begins', () => {
    expect(BOOK.find('openai', 'gpt-4o-mini', new Date('2023-12-31T23:59:59Z'))).toBeNull();
  });
});

test.each([
  ['gpt-5.6-terra', 'openai'],
  ['claude-sonnet-5', 'anthropic'],
  ['gemini-2.5-flash', 'gemini'],
  ['gpt-4o-mini-2024-07-18', 'openai'],
  ['no-such-model', null],
])('finds the provider of the plain id %s: %s', (model, provider) => {
  expect(BOOK.findProviderOf(model)).toBe(provider);
});

describe('an overriding price', () => {
  const price = (from: string, input: string): PriceRow => ({
    provider: 'openai',
    model: 'gpt-4o-mini',
    from,
    currency: 'USD',
    kind: 'chat',
    standard: rates(input, input, input, input),
    batch: rates(input, input, input, input),
    batchBasis: 'override',
    maxOutputTokens: 100,
  });
  const book = createPriceBook(PUBLISHED_PRICES, [price('2026-12-01', '7'), price('2026-12-05', '8')]);

  test.each([
    ['2026-11-30T23:59:59Z', '0.15'],
    ['2026-12-01T00:00:00Z', '7'],
    ['2026-12-05T00:00:00Z', '8'],
  ])('applies from its first day on: %s costs %s', (at, input) => {
    expect(book.find('openai', 'gpt-4o-mini', new Date(at))?.standard.input).toBe(input);
  });

  test('makes a model known', () => {
    const own = createPriceBook([], [{ ...price('2026-01-01', '7'), provider: 'house', model: 'own' }]);
    expect(own.findProviderOf('own')).toBe('house');
    expect(own.findProviderOf('gpt-4o-mini')).toBeNull();
  });
});

describe.each(PUBLISHED_PRICES)('$provider/$model from $from', (row) => {
  const every = [row.standard, row.batch, row.longContext?.standard, row.longContext?.batch].flatMap((r) => r ?? []);

  test('has exact rates, the cached one never above input', () => {
    expect(row.from).toMatch(/^20\d\d-\d\d-\d\d$/);
    for (const { longCacheWrite = '0', ...rates } of every) {
      for (const rate of [...Object.values(rates), longCacheWrite]) {
        expect(parseAmount(rate) % 1_000_000n).toBe(0n);
        expect(parseAmount(rate)).toBeGreaterThanOrEqual(0n);
      }
      expect(parseAmount(rates.cachedInput)).toBeLessThanOrEqual(parseAmount(rates.input));
    }
  });

  test('says truly where its batch rates come from', () => {
    const half = (rate: string) => parseAmount(rate) / 2n;
    const [input, output] = [parseAmount(row.batch?.input ?? '-1'), parseAmount(row.batch?.output ?? '-1')];
    if (row.batchBasis === 'free')
      expect([...every.flatMap((rates) => Object.values(rates))]).not.toContainEqual(/[1-9]/);
    if (row.batchBasis === 'half_of_standard') {
      expect([input, output]).toEqual([half(row.standard.input), half(row.standard.output)]);
    }
    expect(input).toBeLessThanOrEqual(parseAmount(row.standard.input));
  });

  test('is dearer in its long-context tier', () => {
    for (const mode of ['standard', 'batch'] as const) {
      const base = row[mode];
      const tier = row.longContext?.[mode] ?? base;
      if (base === null || tier === null) throw new Error('every row of the book has both modes');
      const dearer = row.longContext === undefined ? 0 : 1;
      expect(Number(parseAmount(tier.input) - parseAmount(base.input) > 0n)).toBe(dearer);
    }
  });

  test('is the only row of its model from that day', () => {
    const ids = (other: typeof row) => [other.model, ...(other.alsoKnownAs ?? [])];
    const twins = PUBLISHED_PRICES.filter(
      (other) =>
        other.provider === row.provider && other.from === row.from && ids(other).some((id) => ids(row).includes(id)),
    );
    expect(twins).toEqual([row]);
  });
});
