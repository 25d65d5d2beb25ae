import { expect, test } from 'vitest';
import { markUp } from '../domain/customer-pricing.ts';
import { createPriceBook, PUBLISHED_PRICES } from '../domain/price-book.ts';
import type { PriceMode } from '../domain/pricing.ts';
import { toStagedLine } from './read-results.ts';

const price = createPriceBook(PUBLISHED_PRICES).find('openai', 'gpt-4o-mini', new Date('2026-11-30'));

function stage(
  priceForCustomer: NonNullable<Parameters<typeof toStagedLine>[2]['priceForCustomer']> | null,
  priceMode: PriceMode = 'batch',
) {
  if (price === null) throw new Error('the price book knows gpt-4o-mini');
  const usage = { inputTokens: 1000, outputTokens: 100 };
  const result = { kind: 'completed', body: '{}', usage, model: null } as const;
  const context = { price, priceMode, model: 'gpt-4o-mini', estimate: undefined, priceForCustomer } as const;
  return toStagedLine({ itemNo: 1, line: 1, result, isReadable: true }, 1, context);
}

test('a result line is staged with what its customer is shown, beside what the tenant is charged', () => {
  const line = stage((usage, amount) => markUp(amount, '50') + BigInt(usage.outputTokens));
  expect([line.amount, line.customerAmount]).toEqual([105_000_000n, 157_500_100n]);
});

test('a line of a customer without prices of its own has none', () => {
  expect(stage(null).customerAmount).toBeNull();
});

test('a reply of the ordinary endpoint is staged at the standard price', () => {
  expect(stage(null, 'standard').amount).toBe(210_000_000n);
});
