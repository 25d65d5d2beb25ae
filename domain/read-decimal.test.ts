import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactNumber, readDecimal, readJsonNumber } from './read-decimal.ts';

test.for([
  ['12', '12'],
  ['1234.50', '1234.50'],
  ['1,234.50', '1234.50'],
  ['1.234,50', '1234.50'],
  ['1 234,50', '1234.50'],
  ['1\u202f234\u202f567,50', '1234567.50'],
  ["1'234.50", '1234.50'],
  ['CHF 1’234.50', '1234.50'],
  ['1,234,567', '1234567'],
  ['1.234.567', '1234567'],
  ['12,34,567.00', '1234567.00'],
  ['12,5', '12.5'],
  ['0,123', '0.123'],
  ['1.234', '1.234'],
  ['.5', '0.5'],
  ['007', '7'],
  ['+3', '3'],
  ['-3', '-3'],
  ['−3', '-3'],
  ['3-', '-3'],
  ['(3)', '-3'],
  ['($1,234.50)', '-1234.50'],
  ['-€12', '-12'],
  ['€ -12', '-12'],
  ['12 €', '12'],
  ['USD 12', '12'],
  ['12 EUR', '12'],
  ['US$5', '5'],
  ['R$ 1.234,56', '1234.56'],
  ['12 kr', '12'],
  ['-0.00', '0.00'],
])('reads %s as %s', ([text = '', decimal]) => {
  expect(readDecimal(text)).toEqual({ ok: true, value: decimal });
});

test.for([
  ...[
    '',
    ' ',
    '-',
    '$',
    'twelve',
    '1e3',
    '12%',
    '12 PCS',
    '1.2.3',
    '12.34,5',
    '1,23,45',
    '12 34',
    '1 2',
    '--12',
    '-(12)',
  ],
  ...['(12', '$12 €', '12 USD EUR', '5.', '١٢', '1'.repeat(101)],
])('does not take %s for a number', (text) => {
  expect(readDecimal(text)).toEqual({ ok: false, reason: 'is not a number' });
});

test.for(['1,234', '12,345', '-123,456', '$1,234'])('refuses %s, which is one of two numbers', (text) => {
  expect(readDecimal(text)).toEqual({ ok: false, reason: expect.stringMatching(/^is ambiguous/) });
});

test('refuses more digits than any amount has', () => {
  expect(readDecimal('1'.repeat(41))).toEqual({ ok: false, reason: 'has too many digits' });
});

test('reads every amount back from every way to write it', () => {
  const amount = fc.record({
    cents: fc.bigInt({ min: 0n, max: 10n ** 20n }),
    isNegative: fc.boolean(),
    marks: fc.constantFrom([',', '.'], ['.', ','], [' ', ','], ['\u00a0', ','], ["'", '.'], ['', '.'], ['', ',']),
    sign: fc.constantFrom(
      (text: string) => `-${text}`,
      (text: string) => `(${text})`,
      (text: string) => `${text}-`,
    ),
    symbol: fc.constantFrom(
      (text: string) => text,
      (text: string) => `€${text}`,
      (text: string) => `${text} USD`,
    ),
  });
  fc.assert(
    fc.property(amount, ({ cents, isNegative, marks: [group = '', point = ''], sign, symbol }) => {
      const whole = (cents / 100n).toString();
      const decimals = (cents % 100n).toString().padStart(2, '0');
      const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
      const absolute = `${grouped}${point}${decimals}`;
      const text = isNegative ? sign(symbol(absolute)) : symbol(absolute);
      const minus = isNegative && cents > 0n ? '-' : '';
      expect(readDecimal(text)).toEqual({ ok: true, value: `${minus}${whole}.${decimals}` });
    }),
  );
});

test('takes for exact what JSON gives back with the same digits, and nothing else', () => {
  expect(exactNumber('0.1')).toBe(0.1);
  expect(exactNumber('-0012.500')).toBe(-12.5);
  expect(exactNumber('-0.0')).toBe(0);
  expect(exactNumber('9007199254740993')).toBeNull();
  expect(exactNumber('0.1000000000000000055')).toBeNull();
  expect(exactNumber('9'.repeat(400))).toBeNull();
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e20, max: 1e20 }), (value) => {
      const decimal = readJsonNumber(JSON.stringify(value));
      expect(decimal === null ? value : exactNumber(decimal)).toBe(value === 0 ? 0 : value);
    }),
  );
});

test.for([
  ['12', '12'],
  ['-1.50', '-1.50'],
  ['1.5e3', '1500'],
  ['1.5E+1', '15'],
  ['1.25e1', '12.5'],
  ['1e-7', '0.0000001'],
  ['-12.5e-1', '-1.25'],
  ['1e1000', null],
  ['abc', null],
  ['', null],
] as const)('writes the JSON number %s out as %s', ([source, decimal]) => {
  expect(readJsonNumber(source)).toBe(decimal);
});
