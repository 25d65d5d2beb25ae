import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AMOUNT_SCALE, formatAmount, formatNumeric, parseAmount, parseNumeric, roundForExport } from './money.ts';

const LARGEST = 10n ** 38n - 1n;
const anyAmount = fc.bigInt({ min: -LARGEST, max: LARGEST });

describe('parseAmount', () => {
  test.each([
    ['0', 0n],
    ['1', AMOUNT_SCALE],
    ['184.20', 184_200_000_000_000n],
    ['0.000000000001', 1n],
    ['-0.5', -500_000_000_000n],
    ['-0', 0n],
    ['99999999999999999999999999.999999999999', LARGEST],
  ])('reads %s exactly', (text, amount) => {
    expect(parseAmount(text)).toBe(amount);
  });

  test.each([
    ['', /not a plain decimal/],
    [' 1', /not a plain decimal/],
    ['1.', /not a plain decimal/],
    ['.5', /not a plain decimal/],
    ['+1', /not a plain decimal/],
    ['01', /not a plain decimal/],
    ['1e3', /not a plain decimal/],
    ['1,5', /not a plain decimal/],
    ['0x10', /not a plain decimal/],
    ['NaN', /not a plain decimal/],
    ['١', /not a plain decimal/],
    ['1\n', /not a plain decimal/],
    ['0.0000000000001', /more than 12 decimals/],
    ['100000000000000000000000000', /more than 26 digits/],
  ])('refuses %j with the reason', (text, reason) => {
    expect(() => parseAmount(text)).toThrow(RangeError);
    expect(() => parseAmount(text)).toThrow(reason);
  });
});

test.each([
  [0n, '0.00'],
  [184_200_000_000_000n, '184.20'],
  [1n, '0.000000000001'],
  [-1n, '-0.000000000001'],
  [400_000n, '0.0000004'],
  [1_230_000_000_000n, '1.23'],
  [1_234_000_000_000n, '1.234'],
  [-1_500_000_000_000n, '-1.50'],
])('formats %d with at least two decimals as %s', (amount, text) => {
  expect(formatAmount(amount)).toBe(text);
});

test('formats a numeric parameter with twelve decimals', () => {
  expect(formatNumeric(-1_500_000_000_000n)).toBe('-1.500000000000');
});

test('reads back every amount from both forms, exactly', () => {
  fc.assert(
    fc.property(anyAmount, (amount) => {
      expect(parseAmount(formatAmount(amount))).toBe(amount);
      expect(parseNumeric(formatNumeric(amount))).toBe(amount);
      expect(formatAmount(amount)).toMatch(/^-?\d+\.\d{2}(\d*[1-9])?$/);
    }),
  );
});

describe('roundForExport', () => {
  test.each([
    ['0.005', 2, '0.00'],
    ['0.015', 2, '0.02'],
    ['0.025', 2, '0.02'],
    ['0.025000000001', 2, '0.03'],
    ['-0.015', 2, '-0.02'],
    ['-0.025', 2, '-0.02'],
    ['-0.004', 2, '0.00'],
    ['1.5', 0, '2'],
    ['2.5', 0, '2'],
    ['1.25', 12, '1.250000000000'],
  ])('rounds %s to %i decimals as %s, ties to even', (text, decimals, rounded) => {
    expect(roundForExport(parseAmount(text), decimals)).toBe(rounded);
  });

  test.each([-1, 1.5, 13])('refuses %d decimals', (decimals) => {
    expect(() => roundForExport(1n, decimals)).toThrow(RangeError);
  });

  test('is never further than half of the last decimal from the amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }), fc.nat({ max: 12 }), (amount, decimals) => {
        const difference = parseAmount(roundForExport(amount, decimals)) - amount;
        expect((difference < 0n ? -difference : difference) * 2n).toBeLessThanOrEqual(10n ** BigInt(12 - decimals));
      }),
    );
  });
});
