import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawHold, LEDGER_EVENTS, lawHolds, ledgerEvent } from './ledger-entry.ts';

const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });

test('the ledger has eleven acts for each of batches, tasks and documents', () => {
  expect(LEDGER_EVENTS.filter((event) => event.startsWith('batch.'))).toEqual([
    'batch.estimated',
    'batch.reserved',
    'batch.submitted',
    'batch.item.settled',
    'batch.item.refunded',
    'batch.cancel_requested',
    'batch.expired',
    'batch.reconciled',
    'batch.released',
    'batch.overage',
    'batch.adjusted',
  ]);
  expect(LEDGER_EVENTS).toHaveLength(33);
  expect(LEDGER_EVENTS).toContain('document.item.settled');
  expect(ledgerEvent('task', 'item.refunded')).toBe('task.item.refunded');
});

describe('lawHolds', () => {
  test.each([
    [{ reserved: 205n, overage: 0n, settled: 117n, released: 0n, held: 88n }, true],
    [{ reserved: 205n, overage: 5n, settled: 210n, released: 0n, held: 0n }, true],
    [{ reserved: 205n, overage: 0n, settled: 117n, released: 88n, held: 88n }, false],
    [{ reserved: 205n, overage: 0n, settled: 206n, released: 0n, held: -1n }, false],
  ])('%o: %s', (holding, holds) => {
    expect(lawHolds(holding)).toBe(holds);
  });
});

describe('drawHold', () => {
  test.each([
    [100n, 0n, 40n, 40n, 0n],
    [100n, 90n, 40n, 10n, 30n],
    [100n, 100n, 40n, 0n, 40n],
    [0n, 0n, 0n, 0n, 0n],
  ])('of %d, %d drawn, charged %d, draws %d and %d over', (held, drawn, charge, draw, over) => {
    expect(drawHold({ amount: held, drawn }, charge)).toEqual({ draw, over });
  });

  test('refuses a negative charge and a hold drawn past its amount', () => {
    expect(() => drawHold({ amount: 1n, drawn: 0n }, -1n)).toThrow(RangeError);
    expect(() => drawHold({ amount: 1n, drawn: 2n }, 0n)).toThrow(RangeError);
  });

  test('keeps the law through any sequence of charges, and never draws more than the hold', () => {
    fc.assert(
      fc.property(amount, fc.array(amount), (reserved, charges) => {
        let [drawn, settled, overage] = [0n, 0n, 0n];
        for (const charge of charges) {
          const { draw, over } = drawHold({ amount: reserved, drawn }, charge);
          drawn += draw;
          overage += over;
          settled += charge;
          expect(drawn).toBeLessThanOrEqual(reserved);
          expect(lawHolds({ reserved, overage, settled, released: 0n, held: reserved - drawn })).toBe(true);
        }
        expect(lawHolds({ reserved, overage, settled, released: reserved - drawn, held: 0n })).toBe(true);
      }),
    );
  });
});
