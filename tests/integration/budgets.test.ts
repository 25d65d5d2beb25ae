import { afterAll, expect, test } from 'vitest';
import { currentPeriodStart } from '../../db/budget-periods.ts';
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
    alertPercents: [80, 100],
    alerts: [],
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

test.each([
  // Berlin is at +2 until October and +1 from its end; New York at −4 until November and −5 from its start.
  ['Europe/Berlin', '2026-10-31T22:59:59.999Z', '2026-10-01'],
  ['Europe/Berlin', '2026-10-31T23:00:00Z', '2026-11-01'],
  ['Europe/Berlin', '2026-03-31T21:59:59.999Z', '2026-03-01'],
  ['Europe/Berlin', '2026-03-31T22:00:00Z', '2026-04-01'],
  ['America/New_York', '2026-11-01T03:59:59.999Z', '2026-10-01'],
  ['America/New_York', '2026-11-01T04:00:00Z', '2026-11-01'],
  ['America/New_York', '2026-12-01T04:59:59.999Z', '2026-11-01'],
  ['Pacific/Kiritimati', '2026-12-31T10:00:00Z', '2027-01-01'],
])('in %s %s is in the month of %s, in summer and winter', async (timeZone, iso, start) => {
  const at = new Date(iso);
  const zoned = `tenant_${timeZone}_${iso}`;
  await insertTenant(pool, { tenantId: zoned, name: 'Z', timeZone });
  await insertBudget(pool, { tenantId: zoned, scope: 'tenant', scopeId: zoned, period: 'month', limit: 1n });
  const [shown] = await listBudgets(pool, { ...whole, tenantId: zoned }, at);
  expect(shown?.periodStart).toBe(start);
  expect(await currentPeriodStart(pool, { tenantId: zoned, period: 'month' }, at)).toBe(start);
  expect(await currentPeriodStart(pool, { tenantId: zoned, period: 'total' }, at)).toBe('1970-01-01');
});

test('what is available falls below zero by overage', async () => {
  const overdrawn = await budget('project', 'proj_over', 'total', '1');
  await spend(overdrawn, '1970-01-01', 0n, parseAmount('1.5'));
  const budgets = await listBudgets(pool, whole, NOW);
  expect(budgets.find(({ budgetId }) => budgetId === overdrawn)).toMatchObject({
    settled: parseAmount('1.5'),
    available: parseAmount('-0.5'),
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
