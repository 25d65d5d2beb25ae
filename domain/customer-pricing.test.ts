import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type CustomerPricing,
  customerAmount,
  customerEstimate,
  customerQuote,
  customerShare,
  markUp,
} from './customer-pricing.ts';
import { parseAmount } from './money.ts';
import { type PriceRow, rates } from './price-row.ts';
import { ZERO_USAGE } from './usage.ts';

const OWN: PriceRow = {
  provider: 'openai',
  model: 'gpt-4o-mini',
  from: '2026-01-01',
  currency: 'USD',
  kind: 'chat',
  standard: rates('2', '1', '2', '8'),
  batch: rates('1', '0.5', '1', '4'),
  batchBasis: 'override',
  longContext: { aboveInputTokens: 1000, standard: rates('4', '2', '4', '16'), batch: rates('2', '1', '2', '8') },
  maxOutputTokens: 1000,
};
const PRICING: CustomerPricing = { markupPercent: '15', prices: [OWN] };
const MINI = { provider: 'openai', model: 'gpt-4o-mini' } as const;
const OTHER = { provider: 'openai', model: 'gpt-4o' } as const;
const USAGE = { ...ZERO_USAGE, inputTokens: 1000, outputTokens: 100 };

test.each([
  ['1.00', '0', '1.00'],
  ['1.00', '15', '1.15'],
  ['0.000000000001', '50', '0.000000000002'],
  ['0.000000000003', '50', '0.000000000004'],
  ['0.000000000005', '50', '0.000000000008'],
  ['0.000000000001', '49.9999', '0.000000000001'],
  ['2.00', '10000', '202.00'],
  ['0.00', '12.3456', '0.00'],
])('%s marked up by %s percent is %s, half to even', (amount, percent, expected) => {
  expect(markUp(parseAmount(amount), percent)).toBe(parseAmount(expected));
});

test('the customer’s own list wins over the markup, and says nothing of other models', () => {
  const charge = parseAmount('0.30');
  const charged = { usage: USAGE, amount: charge, mode: 'batch' } as const;
  expect(customerAmount(PRICING, MINI, charged)).toBe(parseAmount('0.0014'));
  expect(customerAmount(PRICING, OTHER, charged)).toBe(parseAmount('0.345'));
  const long = { ...USAGE, inputTokens: 1001 };
  expect(customerAmount(PRICING, MINI, { ...charged, usage: long })).toBe(parseAmount('0.002802'));
});

test('on the ordinary endpoint the customer’s own standard price holds', () => {
  const charged = { usage: USAGE, amount: parseAmount('0.30'), mode: 'standard' } as const;
  expect(customerAmount(PRICING, MINI, charged)).toBe(parseAmount('0.0028'));
  const line = { ...MINI, items: 2, inputTokens: 2000, outputTokens: 200, amount: parseAmount('7') };
  expect(customerEstimate(PRICING, line, 'standard')).toBe(parseAmount('0.0056'));
  expect(customerQuote(PRICING, [line], { margin: '0', mode: 'standard' }).amount).toBe(parseAmount('0.0056'));
});

test('a quote is the sum of its lines, each in the customer’s prices, and its margin rounded up', () => {
  const lines = [
    { ...MINI, items: 2, inputTokens: 2000, outputTokens: 200, amount: parseAmount('7') },
    { ...OTHER, items: 1, inputTokens: 10, outputTokens: 5, amount: parseAmount('0.000000000003') },
  ];
  expect(lines.map((line) => customerEstimate(PRICING, line, 'batch'))).toEqual([parseAmount('0.0028'), 3n]);
  expect(customerQuote(PRICING, lines, { margin: '0.10', mode: 'batch' })).toEqual({
    amount: parseAmount('0.002800000003'),
    reserved: parseAmount('0.003080000004'),
  });
});

const amounts = fc.bigInt({ min: 0n, max: 10n ** 24n });
const percents = fc.integer({ min: 0, max: 100_000_000 }).map((tenThousandths) => {
  const [whole, rest] = [Math.floor(tenThousandths / 10_000), tenThousandths % 10_000];
  return `${whole}.${String(rest).padStart(4, '0')}`;
});

test('a markup never takes away, keeps the order of amounts and is off by at most half a unit', () => {
  fc.assert(
    fc.property(amounts, amounts, percents, (one, other, percent) => {
      const marked = markUp(one, percent);
      expect(marked).toBeGreaterThanOrEqual(one);
      if (one <= other) expect(markUp(other, percent)).toBeGreaterThanOrEqual(marked);
      const exact = one * (1_000_000n + BigInt(percent.replace('.', '')));
      const off = marked * 1_000_000n - exact;
      expect(2n * (off < 0n ? -off : off)).toBeLessThanOrEqual(1_000_000n);
    }),
  );
});

test('all of a charge taken back is all of what the customer was shown', () => {
  fc.assert(
    fc.property(amounts, amounts, amounts, (customer, part, rest) => {
      const whole = part + rest;
      if (whole > 0n) expect(customerShare(customer, whole, whole)).toBe(customer);
      const share = customerShare(customer, part, whole);
      expect(share >= 0n && share <= customer).toBe(true);
    }),
  );
  expect(customerShare(5n, 0n, 0n)).toBe(0n);
});
