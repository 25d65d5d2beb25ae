import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { listBudgets } from '../../../db/budgets.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { type Amount, formatNumeric } from '../../../domain/money.ts';
import { drawFromHolds } from '../../../ledger/draw.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant, type TestTenant } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';
import { replyLine, runningJobs } from '../../harness/running-jobs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const NOVEMBER = new Date('2026-11-30T12:00:00Z');
const DECEMBER = new Date('2026-12-01T00:00:00Z');
/** What one item of the harness holds: 20 tokens in and 100 out. */
const RESERVED = 34_650_000n;

/** Submits a job of so many items, and begins its attempt. */
async function admit(tenant: TestTenant, items: number, at = NOVEMBER): Promise<string> {
  const { jobId } = await insertJob(database.db, tenant, { items });
  const { admitJob } = createDatabaseActivities(testDependencies(database.db, { now: () => at }));
  const { verdict } = await runActivity(admitJob, { jobId, submissionNo: 1 });
  if (verdict !== 'accepted') throw new Error(verdict);
  await runningJobs(database.db).start(jobId);
  return jobId;
}

/** A tenant whose budget is so many items wide; a monthly one where it is said. */
async function tenantOf(limit: Amount, { monthly = false } = {}): Promise<TestTenant> {
  const tenant = await insertTenant(database.db, { limit: formatNumeric(limit) });
  if (monthly)
    await database.db.pool.query("UPDATE budgets SET period = 'month' WHERE budget_id = $1", [tenant.budgetId]);
  return tenant;
}

async function told({ tenantId }: TestTenant) {
  const { rows } = await database.db.pool.query(
    "SELECT data FROM events WHERE tenant_id = $1 AND type = 'budget.alert' ORDER BY event_no",
    [tenantId],
  );
  return rows.map(({ data }) => `${data.percent}${data.period_start === null ? '' : ` from ${data.period_start}`}`);
}

async function shown({ tenantId }: TestTenant, at = NOVEMBER) {
  const [budget] = await listBudgets(database.db.pool, { tenantId, projectId: null, customerId: null }, at);
  if (budget === undefined) throw new Error('no budget');
  return budget;
}

test('a percentage that a reservation reaches is told once, with the amounts of that moment', async () => {
  const tenant = await tenantOf(10n * RESERVED);
  await admit(tenant, 7);
  expect(await told(tenant)).toEqual([]);
  await admit(tenant, 1);
  expect(await told(tenant)).toEqual(['80']);
  await admit(tenant, 1);
  await admit(tenant, 1);
  expect(await told(tenant)).toEqual(['80', '100']);
  const { rows } = await database.db.pool.query(
    "SELECT job_id, data FROM events WHERE tenant_id = $1 AND data ->> 'percent' = '80'",
    [tenant.tenantId],
  );
  const amounts = { limit: '0.0003465', held: '0.0002772', settled: '0.00', currency: 'USD' };
  const scope = { scope: 'tenant', scope_id: tenant.tenantId, period: 'total', period_start: null };
  expect(rows).toEqual([{ job_id: null, data: { percent: 80, ...scope, ...amounts } }]);
  expect((await shown(tenant)).alerts.map(({ percent }) => percent)).toEqual([80, 100]);
});

test('a settlement within its hold reaches nothing; overage does, and what is available is less than nothing', async () => {
  const tenant = await tenantOf(2n * RESERVED);
  const jobId = await admit(tenant, 1);
  const jobs = runningJobs(database.db);
  await jobs.settle(jobId, [replyLine(1, 1, { input: 20, output: 100 })], 2);
  expect(await told(tenant)).toEqual([]);
  const overrun = await admit(tenant, 1);
  expect(await told(tenant)).toEqual(['80', '100']);
  await database.db.pool.query("UPDATE budgets SET alert_percents = '{150, 1000}' WHERE budget_id = $1", [
    tenant.budgetId,
  ]);
  await jobs.settle(overrun, [replyLine(1, 1, { input: 20, output: 1_000 })], 2);
  await jobs.settle(overrun, [replyLine(1, 1, { input: 20, output: 1_000 })]);
  expect(await told(tenant)).toEqual(['80', '100', '150']);
  const { available, held, settled, limit } = await shown(tenant);
  expect(available).toBeLessThan(0n);
  expect(held + settled + available).toBe(limit);
  await Promise.all([jobs.finish(jobId, 'batch_completed'), jobs.finish(overrun, 'batch_completed')]);
  expect(await told(tenant)).toHaveLength(3);
  expect((await verifyLedger(database.db, { jobId: overrun })).differences).toEqual([]);
});

test('it falls below and rises again without a second word, and is told again in the next month', async () => {
  const tenant = await tenantOf(10n * RESERVED, { monthly: true });
  const jobs = runningJobs(database.db);
  const first = await admit(tenant, 8);
  await jobs.finish(first, 'batch_expired');
  expect((await shown(tenant)).held).toBe(0n);
  const late = await admit(tenant, 9);
  expect(await told(tenant)).toEqual(['80 from 2026-11-01']);
  expect((await shown(tenant, DECEMBER)).alerts).toEqual([]);
  await admit(tenant, 8, DECEMBER);
  expect(await told(tenant)).toEqual(['80 from 2026-11-01', '80 from 2026-12-01']);
  await jobs.settle(late, [replyLine(1, 1, { input: 20, output: 100 })]);
  await jobs.finish(late, 'batch_completed');
  const [november, december] = [await shown(tenant), await shown(tenant, DECEMBER)];
  expect([november.held, november.settled > 0n]).toEqual([0n, true]);
  expect([december.held, december.settled]).toEqual([8n * RESERVED, 0n]);
  expect((await verifyLedger(database.db)).differences).toEqual([]);
});

test('of concurrent reservations one tells', async () => {
  const tenant = await tenantOf(10n * RESERVED);
  await Promise.all(Array.from({ length: 10 }, () => admit(tenant, 1)));
  expect(await told(tenant)).toEqual(['80', '100']);
});

test('a charge that its hold covers is one update of the budget, and reads and locks nothing else', async () => {
  const tenant = await tenantOf(10n * RESERVED);
  const { key, submissionNo } = await getJobRow(database.db.pool, await admit(tenant, 1));
  const statements: string[] = [];
  await inTransaction(database.db, async (client) => {
    const query = (text: string, values: unknown[]) => {
      statements.push(text.trim().split(/\s+/).slice(0, 2).join(' '));
      return client.query(text, values);
    };
    await drawFromHolds({ query } as unknown as pg.PoolClient, key, submissionNo, 1n);
  });
  expect(statements).toEqual(['SELECT scope,', 'UPDATE holds', 'UPDATE budget_periods']);
});

test('while jobs are submitted and settle, held and settled are never seen apart', async () => {
  const tenant = await tenantOf(1_000n * RESERVED);
  const jobs = runningJobs(database.db);
  const reply = (itemNo: number) => replyLine(itemNo, itemNo, { input: 20, output: 90 });
  let isOver = false;
  const work = Promise.all(
    Array.from({ length: 8 }, async () => {
      const jobId = await admit(tenant, 4);
      for (const itemNo of [3, 1, 4, 2]) await jobs.settle(jobId, [reply(itemNo)], 2);
      return jobId;
    }),
  ).finally(() => {
    isOver = true;
  });
  const seen: Amount[] = [];
  while (!isOver) {
    const { limit, held, settled, available } = await shown(tenant);
    expect(held + settled + available).toBe(limit);
    seen.push(held + settled);
  }
  const jobIds = await work;
  expect(seen.length).toBeGreaterThan(10);
  // Money only moves from held to settled, so that the two together are whole reservations at every moment.
  expect(seen.filter((sum) => sum % (4n * RESERVED) !== 0n)).toEqual([]);
  expect(seen).toEqual(seen.toSorted((a, b) => Number(a - b)));
  for (const jobId of jobIds) await jobs.finish(jobId, 'batch_completed');
  const { held, settled } = await shown(tenant);
  expect([held, settled > 0n]).toEqual([0n, true]);
});
