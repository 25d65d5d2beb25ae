import { describe, expect, test } from 'vitest';
import { parseAmount } from './money.ts';
import { findPrice, findProviderOfModel, PRICE_BOOK } from './price-book.ts';
import { PROVIDERS } from './provider.ts';

const AT = new Date('2026-11-30T12:00:00Z');

describe('findPrice', () => {
  test.each([
    ['openai', 'gpt-4o-mini', 'gpt-4o-mini'],
    ['openai', 'gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
    ['openai', 'gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
    ['openai', 'omni-moderation-2024-09-26', 'omni-moderation-latest'],
    ['openai', 'text-moderation', 'text-moderation-latest'],
    ['anthropic', 'claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
    ['gemini', 'gemini-embedding-001', 'gemini-embedding-001'],
  ] as const)('prices %s/%s by the row of %s', (provider, model, row) => {
    expect(findPrice(provider, model, AT)?.model).toBe(row);
  });

  test.each([
    ['openai', 'claude-haiku-4-5'],
    ['anthropic', 'claude-mythos-5'],
    ['openai', 'gpt-4o-mini-2024-07'],
    ['openai', 'gpt-4o-mini-tuned'],
    ['openai', ''],
    ['openai', 'constructor'],
  ] as const)('knows no price of %s/%s', (provider, model) => {
    expect(findPrice(provider, model, AT)).toBeNull();
  });

  test.each([
    ['openai', 'gpt-5.6-sol', '2026-11-21T23:59:59Z', '4'],
    ['openai', 'gpt-5.6-sol', '2026-11-22T00:00:00Z', '5'],
    ['gemini', 'gemini-3.8-flash', '2026-12-31T23:59:59Z', '0.75'],
    ['gemini', 'gemini-3.8-flash', '2027-01-01T00:00:00Z', '1.5'],
  ] as const)('prices %s/%s at %s by the row then in force', (provider, model, at, input) => {
    expect(findPrice(provider, model, new Date(at))?.standard.input).toBe(input);
  });

  test('knows no price before the book begins', () => {
    expect(findPrice('openai', 'gpt-4o-mini', new Date('2023-12-31T23:59:59Z'))).toBeNull();
  });
});

test.each([
  ['gpt-5.6-terra', 'openai'],
  ['claude-sonnet-5', 'anthropic'],
  ['gemini-2.5-flash', 'gemini'],
  ['gpt-4o-mini-2024-07-18', 'openai'],
  ['no-such-model', null],
])('finds the provider of the plain id %s: %s', (model, provider) => {
  expect(findProviderOfModel(model, PROVIDERS)).toBe(provider);
});

describe.each(PRICE_BOOK)('$provider/$model from $from', (row) => {
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
    const twins = PRICE_BOOK.filter(
      (other) =>
        other.provider === row.provider && other.from === row.from && ids(other).some((id) => ids(row).includes(id)),
    );
    expect(twins).toEqual([row]);
  });
});
