import { expect, test } from 'vitest';
import { readSafeText } from './safe-text.ts';

test.each([
  ['plain', 'plain'],
  ['a\u0000b', 'a\uFFFDb'],
  ['half \ud83d', 'half \uFFFD'],
  ['12345678😀', '12345678\uFFFD'],
  ['much too long', 'much too '],
  [400, '400'],
  ['', null],
  [null, null],
  [undefined, null],
  [{ toString: () => 'x' }, null],
])('reads %j as %j', (value, expected) => {
  expect(readSafeText(value, 9)).toBe(expected);
});
