import fc from 'fast-check';
import { expect, test } from 'vitest';
import { divideHalfEven, divideRoundingUp } from './rounding.ts';

test.each([
  [7n, 2n, 4n],
  [5n, 2n, 2n],
  [-5n, 2n, -2n],
  [-7n, 2n, -4n],
  [1n, 3n, 0n],
  [2n, 3n, 1n],
  [-2n, 3n, -1n],
])('divides %d by %d to the nearest, ties to even: %d', (numerator, denominator, quotient) => {
  expect(divideHalfEven(numerator, denominator)).toBe(quotient);
});

test.each([
  [7n, 2n, 4n],
  [6n, 2n, 3n],
  [0n, 2n, 0n],
  [-7n, 2n, -3n],
])('divides %d by %d upwards: %d', (numerator, denominator, quotient) => {
  expect(divideRoundingUp(numerator, denominator)).toBe(quotient);
});

test('never rounds an estimate below the exact quotient, nor by a whole unit above it', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (numerator, denominator) => {
      const excess = divideRoundingUp(numerator, denominator) * denominator - numerator;
      expect(excess >= 0n && excess < denominator).toBe(true);
    }),
  );
});

test.each([0n, -1n])('refuses the denominator %d', (denominator) => {
  expect(() => divideHalfEven(1n, denominator)).toThrow(RangeError);
  expect(() => divideRoundingUp(1n, denominator)).toThrow(RangeError);
});
