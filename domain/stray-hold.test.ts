import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayReleaseStray, type StrayMoney } from './stray-hold.ts';

const sound: StrayMoney = { amounts: [10n, 10n], drawn: [4n, 4n], charged: 4n, reserved: 10n, wasReleased: false };

test.each<[string, boolean, Partial<StrayMoney>]>([
  ['drawn for exactly what was charged', true, {}],
  ['nothing charged and nothing drawn', true, { drawn: [0n, 0n], charged: 0n }],
  ['charged beyond the hold, which is drawn whole', true, { drawn: [10n, 10n], charged: 15n }],
  ['given back before, by the ledger', false, { wasReleased: true }],
  ['a hold the ledger never heard of', false, { reserved: null }],
  ['a hold of another amount than was reserved', false, { amounts: [10n, 11n] }],
  ['drawn for less than was charged', false, { drawn: [4n, 3n] }],
  ['drawn for more than was charged', false, { charged: 3n }],
  ['no hold at all', false, { amounts: [], drawn: [] }],
])('%s: may be released is %s', (_what, expected, change) => {
  expect(mayReleaseStray({ ...sound, ...change })).toBe(expected);
});

test('what is released and what was charged never add up to more than was reserved, or the charge', () => {
  const money = fc.record({
    amounts: fc.array(fc.bigInt(0n, 5n), { maxLength: 3 }),
    drawn: fc.array(fc.bigInt(0n, 5n), { maxLength: 3 }),
    charged: fc.bigInt(0n, 8n),
    reserved: fc.option(fc.bigInt(0n, 5n)),
    wasReleased: fc.boolean(),
  });
  fc.assert(
    fc.property(money, (stray) => {
      if (!mayReleaseStray(stray)) return;
      const reserved = stray.reserved ?? 0n;
      const over = stray.charged > reserved ? stray.charged - reserved : 0n;
      for (const [index, amount] of stray.amounts.entries()) {
        const released = amount - (stray.drawn[index] ?? stray.drawn[0] ?? 0n);
        if (stray.drawn.length === stray.amounts.length) expect(reserved + over).toBe(stray.charged + released);
      }
    }),
  );
});
