import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lawHolds } from './ledger-entry.ts';
import { chooseOverrunScopes, judgeOverage, OVERAGE_POLICIES, splitCharge } from './overage.ts';

const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });

describe('splitCharge', () => {
  test.each([
    [100n, 40n, 40n, 0n],
    [100n, 100n, 100n, 0n],
    [100n, 101n, 100n, 1n],
    [0n, 5n, 0n, 5n],
  ])('a hold of %d charged %d covers %d and %d goes beyond', (reserved, charged, covered, over) => {
    expect(splitCharge(reserved, charged)).toEqual({ covered, over });
  });

  test('refuses what is below zero', () => {
    expect(() => splitCharge(-1n, 0n)).toThrow(RangeError);
    expect(() => splitCharge(0n, -1n)).toThrow(RangeError);
  });
});

describe('judgeOverage', () => {
  test.each([
    ['charge', 130n, 'charged'],
    ['cap', 100n, 'absorbed'],
    ['suspend', 130n, 'suspended'],
  ] as const)('%s leaves %d charged and says %s', (policy, charge, outcome) => {
    expect(judgeOverage(100n, 130n, policy)).toEqual({ charge, overage: { amount: 30n, policy, outcome } });
  });

  test('a charge within the hold is no overage under any policy', () => {
    for (const policy of OVERAGE_POLICIES) {
      expect(judgeOverage(100n, 100n, policy)).toEqual({ charge: 100n, overage: null });
    }
  });

  test('keeps the law with what stays charged, and cap never charges more than the hold', () => {
    fc.assert(
      fc.property(amount, amount, fc.constantFrom(...OVERAGE_POLICIES), (reserved, charged, policy) => {
        const { charge } = judgeOverage(reserved, charged, policy);
        const { covered, over } = splitCharge(reserved, charge);
        const holding = { reserved, overage: over, settled: charge, released: reserved - covered, held: 0n };
        expect(lawHolds(holding)).toBe(true);
        if (policy === 'cap') expect(charge).toBeLessThanOrEqual(reserved);
      }),
    );
  });
});

describe('chooseOverrunScopes', () => {
  const job = { tenantId: 't', projectId: 'p', customerId: 'c' };
  const budget = (scope: 'tenant' | 'project' | 'customer', scopeId: string, isPastLimit = false) => ({
    scope,
    scopeId,
    isPastLimit,
  });

  test.each([
    ['the budget past its limit', job, [budget('tenant', 't', true), budget('customer', 'c')], ['tenant t']],
    [
      'both past their limits',
      job,
      [budget('tenant', 't', true), budget('project', 'p', true)],
      ['tenant t', 'project p'],
    ],
    [
      'a scope once, whatever its budgets',
      job,
      [budget('tenant', 't', true), budget('tenant', 't', true)],
      ['tenant t'],
    ],
    ['the narrowest with a budget', job, [budget('tenant', 't'), budget('project', 'p')], ['project p']],
    ['the customer without budgets', job, [], ['customer c']],
    ['the project without a customer', { ...job, customerId: null }, [], ['project p']],
    ['the tenant else', { ...job, projectId: null, customerId: null }, [], ['tenant t']],
  ])('%s', (_, of, budgets, expected) => {
    expect(chooseOverrunScopes(of, budgets).map(({ scope, scopeId }) => `${scope} ${scopeId}`)).toEqual(expected);
  });
});
