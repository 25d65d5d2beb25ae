import { afterAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { listSuspensions } from '../../../db/suspensions.ts';
import type { OveragePolicy } from '../../../domain/overage.ts';
import { closeJob } from '../../../ledger/close-job.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedLedgerJob, type LedgerJob, readMoney, refund, runningLedgerJob, settleItem } from './ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const MUCH = { input: 1_000, output: 50_000 };

async function overrun(policy: OveragePolicy): Promise<LedgerJob> {
  return endedLedgerJob(db, { policy }, [MUCH]);
}

async function entriesOf({ job }: LedgerJob, events: readonly string[]): Promise<unknown[]> {
  const { rows } = await db.pool.query(
    `SELECT event, cause, account, sign(amount)::int AS sign FROM ledger_entries
     WHERE subject_id = $1 AND item_no = 0 AND event = ANY($2) ORDER BY event, account`,
    [job.key.uuid, events],
  );
  return rows;
}

const END = ['batch.overage', 'batch.adjusted', 'batch.released'];

test('charge: the tenant pays what the job cost above its hold', async () => {
  const of = await overrun('charge');
  const { reserved, settled } = await readMoney(db, of);
  expect(settled).toBeGreaterThan(reserved);
  expect(await entriesOf(of, END)).toEqual([
    { event: 'batch.overage', cause: 'overage_charged', account: 'tenant', sign: 1 },
  ]);
  expect(await listSuspensions(db.pool, of.tenant.tenantId, { includeLifted: true, limit: 10 })).toEqual([]);
});

test('cap: the gateway bears it, once, and the budget is charged what was held', async () => {
  const of = await overrun('cap');
  const before = await readMoney(db, of);
  expect(before).toMatchObject({
    settled: before.reserved,
    budgetSettled: before.reserved,
    budgetHeld: 0n,
    released: 0n,
  });
  expect(await entriesOf(of, END)).toEqual([
    { event: 'batch.adjusted', cause: 'overage_absorbed', account: 'tenant', sign: -1 },
    { event: 'batch.overage', cause: 'overage_absorbed', account: 'gateway', sign: 1 },
  ]);
  await closeJob(db, of.job.jobId, new Date());
  expect(await readMoney(db, of)).toEqual(before);
});

test('cap: a refund gives back at most what the tenant was charged', async () => {
  const of = await endedLedgerJob(db, { policy: 'cap' }, [MUCH, MUCH]);
  const { reserved } = await readMoney(db, of);
  expect(await refund(db, of, 1, reserved + 1n)).toEqual({ kind: 'too_much', most: reserved });
  expect(await refund(db, of, 1)).toMatchObject({ kind: 'refunded', refund: { refunded: reserved } });
  expect(await refund(db, of, 2)).toEqual({ kind: 'nothing_charged' });
  expect(await readMoney(db, of)).toMatchObject({ settled: 0n, released: reserved, budgetSettled: 0n });
  expect((await verifyLedger(db, { jobId: of.job.jobId })).differences).toEqual([]);
});

test('suspend: the scope that overran takes no new work, running work settles, and lifting it lets work in', async () => {
  const tenant = await insertTenant(db, { limit: null });
  const running = await runningLedgerJob(db, { policy: 'suspend', tenant });
  const of = await endedLedgerJob(db, { policy: 'suspend', tenant }, [MUCH]);
  expect(await entriesOf(of, END)).toEqual([
    { event: 'batch.overage', cause: 'overage_suspended', account: 'tenant', sign: 1 },
  ]);
  const [suspension] = await listSuspensions(db.pool, tenant.tenantId, { includeLifted: false, limit: 10 });
  expect(suspension).toMatchObject({ scope: 'tenant', scopeId: tenant.tenantId, jobId: of.job.jobId, liftedAt: null });
  const activities = createDatabaseActivities(testDependencies(db));
  const admit = async () => {
    const { jobId } = await insertJob(db, tenant, { items: 1 });
    return (await runActivity(activities.admitJob, { jobId, submissionNo: 1 })).verdict;
  };
  expect(await admit()).toBe('refused');
  await settleItem(db, running, 1, { input: 1, output: 1 });
  expect(await closeJob(db, running.job.jobId, new Date())).toMatchObject({ state: 'completed' });
  await db.pool.query("UPDATE spending_suspensions SET lifted_at = now(), lifted_by = 'k' WHERE suspension_id = $1", [
    suspension?.suspensionId,
  ]);
  expect(await admit()).toBe('accepted');
});

test('suspend: the budget that the overage took past its limit is what is suspended', async () => {
  const tenant = await insertTenant(db, { limit: '0.001' });
  await endedLedgerJob(db, { policy: 'suspend', tenant }, [MUCH]);
  const suspensions = await listSuspensions(db.pool, tenant.tenantId, { includeLifted: false, limit: 10 });
  expect(suspensions.map(({ scope }) => scope)).toEqual(['tenant']);
});

test('a policy that changes while a job runs does not touch it', async () => {
  const of = await runningLedgerJob(db, { policy: 'cap' });
  await db.pool.query("UPDATE tenants SET overage_policy = 'charge' WHERE tenant_id = $1", [of.tenant.tenantId]);
  await settleItem(db, of, 1, MUCH);
  await closeJob(db, of.job.jobId, new Date());
  const { settled, reserved } = await readMoney(db, of);
  expect(settled).toBe(reserved);
});

test('twenty refunds of one item at once give it back once', async () => {
  const of = await endedLedgerJob(db, { outputTokens: 60_000 }, [MUCH, MUCH]);
  const before = await readMoney(db, of);
  const results = await Promise.all(Array.from({ length: 20 }, () => refund(db, of, 1)));
  expect(results.filter((result) => result.kind === 'refunded' && result.isNew)).toHaveLength(1);
  expect(results.filter(({ kind }) => kind === 'refunded')).toHaveLength(20);
  expect((await readMoney(db, of)).settled * 2n).toBe(before.settled);
});

test('a refund of a running job is held again, and the end releases it', async () => {
  const of = await runningLedgerJob(db, { items: 2, outputTokens: 60_000 });
  await settleItem(db, of, 1, MUCH);
  expect(await refund(db, of, 2)).toEqual({ kind: 'not_settled' });
  await refund(db, of, 1);
  const { reserved, ...money } = await readMoney(db, of);
  expect(money).toMatchObject({ settled: 0n, held: reserved, budgetHeld: reserved, budgetSettled: 0n });
  expect(await refund(db, of, 1, 1n)).toMatchObject({ kind: 'refunded_otherwise' });
  expect(await refund(db, of, 3)).toEqual({ kind: 'no_item' });
});
