import { afterAll, expect, test } from 'vitest';
import { insertBudget, listBudgets } from '../../db/budgets.ts';
import { insertTenant } from '../../db/tenants.ts';
import { formatNumeric, parseAmount } from '../../domain/money.ts';
import { createTestDatabase } from '../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const { pool } = db;
const tenantId = 'tenant_tokyo';
await insertTenant(pool, { tenantId, name: 'Tokyo', currency: 'JPY', timeZone: 'Asia/Tokyo' });
const whole = { tenantId, projectId: null, customerId: null };
const NOW = new Date('2026-08-19T10:00:00Z');

async function budget(
  scope: 'tenant' | 'project' | 'customer',
  scopeId: string,
  period: 'total' | 'month',
  limit: string,
) {
  const id = await insertBudget(pool, { tenantId, scope, scopeId, period, limit: parseAmount(limit) });
  if (id === null) throw new Error('taken');
  return id;
}

async function spend(budgetId: string, periodStart: string, held: bigint, settled: bigint) {
  await pool.query('INSERT INTO budget_periods (budget_id, period_start, held, settled) VALUES ($1, $2, $3, $4)', [
    budgetId,
    periodStart,
    formatNumeric(held),
    formatNumeric(settled),
  ]);
}

const total = await budget('tenant', tenantId, 'total', '99999999999999999999999999.000000000001');
const month = await budget('tenant', tenantId, 'month', '10');
await budget('project', 'proj_1', 'total', '5');
await budget('customer', 'cust_1', 'total', '3');
await budget('customer', 'cust_2', 'total', '2');

test('tells to the last digit what is held, settled and available', async () => {
  await spend(total, '1970-01-01', 2n, 1n);
  const [, found] = await listBudgets(pool, whole, NOW);
  expect(found).toEqual({
    budgetId: total,
    scope: 'tenant',
    scopeId: tenantId,
    period: 'total',
    periodStart: null,
    limit: 99999999999999999999999999000000000001n,
    held: 2n,
    settled: 1n,
    available: 99999999999999999999999998999999999998n,
    currency: 'JPY',
  });
});

test("a month is the tenant's own, and other months do not count in it", async () => {
  await spend(month, '2026-08-01', parseAmount('1'), parseAmount('2'));
  await spend(month, '2026-09-01', parseAmount('4'), 0n);
  const monthAt = async (iso: string) => {
    const [found] = await listBudgets(pool, whole, new Date(iso));
    return [found?.periodStart, found?.available];
  };
  // Midnight in Tokyo is 15:00 UTC.
  expect(await monthAt('2026-08-31T14:59:59.999Z')).toEqual(['2026-08-01', parseAmount('7')]);
  expect(await monthAt('2026-08-31T15:00:00Z')).toEqual(['2026-09-01', parseAmount('6')]);
  expect(await monthAt('2026-09-30T15:00:00Z')).toEqual(['2026-10-01', parseAmount('10')]);
});

test('what is available never falls below zero', async () => {
  const overdrawn = await budget('project', 'proj_over', 'total', '1');
  await spend(overdrawn, '1970-01-01', 0n, parseAmount('1.5'));
  const budgets = await listBudgets(pool, whole, NOW);
  expect(budgets.find(({ budgetId }) => budgetId === overdrawn)).toMatchObject({
    settled: parseAmount('1.5'),
    available: 0n,
  });
});

test.each([
  [
    'the tenant',
    {},
    ['tenant_tokyo month', 'tenant_tokyo total', 'proj_1 total', 'proj_over total', 'cust_1 total', 'cust_2 total'],
  ],
  ['a project', { projectId: 'proj_1' }, ['proj_1 total']],
  ['a customer', { customerId: 'cust_1' }, ['cust_1 total']],
  ['a project of a customer', { projectId: 'proj_1', customerId: 'cust_2' }, ['proj_1 total', 'cust_2 total']],
  ['another tenant', { tenantId: 'tenant_other' }, []],
])('%s sees its own budgets', async (_, narrowed, seen) => {
  const budgets = await listBudgets(pool, { ...whole, ...narrowed }, NOW);
  expect(budgets.map(({ scopeId, period }) => `${scopeId} ${period}`)).toEqual(seen);
});

test('a scope and period has one budget', async () => {
  expect(
    await insertBudget(pool, { tenantId, scope: 'customer', scopeId: 'cust_1', period: 'total', limit: 1n }),
  ).toBeNull();
});
