import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeProviderItemId, encodeAttemptToken, encodeProviderItemId, isAttemptToken } from './attempt-token.ts';

const TOKEN = encodeAttemptToken(new Uint8Array(16).fill(7));
const anyBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

test('any token and item number come back from an id that every provider takes', () => {
  fc.assert(
    fc.property(anyBytes, fc.integer({ min: 1, max: 2_147_483_647 }), (bytes, itemNo) => {
      const token = encodeAttemptToken(bytes);
      const id = encodeProviderItemId(token, itemNo);
      expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(decodeProviderItemId(id)).toEqual({ token, itemNo });
    }),
  );
});

test('tokens of different bytes differ, and sort as their bytes do', () => {
  fc.assert(
    fc.property(anyBytes, anyBytes, (left, right) => {
      const order = Math.sign(Buffer.compare(left, right));
      const [leftToken, rightToken] = [encodeAttemptToken(left), encodeAttemptToken(right)];
      expect(leftToken < rightToken ? -1 : Number(leftToken > rightToken)).toBe(order);
    }),
  );
});

test.each([
  null,
  undefined,
  7,
  '',
  'row_17',
  TOKEN,
  `${TOKEN}-`,
  `${TOKEN}-0`,
  `${TOKEN}-01`,
  `${TOKEN}--1`,
  `${TOKEN}-1 `,
  `${TOKEN}-1.5`,
  `${TOKEN}-12345678901`,
  `${TOKEN}_1`,
  `x${TOKEN}-1`,
  `${TOKEN.toUpperCase()}-1`,
  `${TOKEN.slice(1)}-1`,
])('%j is not an id of ours', (id) => {
  expect(decodeProviderItemId(id)).toBeNull();
});

test('refuses to make an id from what is no token or no item number', () => {
  expect(() => encodeProviderItemId('short', 1)).toThrow(RangeError);
  for (const itemNo of [0, -1, 1.5, 2 ** 60]) expect(() => encodeProviderItemId(TOKEN, itemNo)).toThrow(RangeError);
  expect(() => encodeAttemptToken(new Uint8Array(15))).toThrow(RangeError);
  expect([isAttemptToken(TOKEN), isAttemptToken(`${TOKEN}0`), isAttemptToken('')]).toEqual([true, false, false]);
});
