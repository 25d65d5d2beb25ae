import { afterAll, beforeEach, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { runningLedgerJob, settleItem } from '../ledger/ledger-job.ts';
import { findings, sweeper } from './sweep-fixture.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const sweep = sweeper(db);
beforeEach(async () => {
  await db.pool.query('DELETE FROM sweep_findings');
  await db.pool.query('UPDATE holds SET released = amount - drawn WHERE released IS NULL');
});

const NONE = { looked: 0, repaired: 0, raised: 0, failed: 0 };

/** A job of two items, one of them settled, that was ended with its money still held. */
async function endedWithMoney() {
  const ledgerJob = await runningLedgerJob(db, { items: 2, outputTokens: 1_000 });
  await settleItem(db, ledgerJob, 1, { input: 100, output: 100 });
  const { jobId, key } = ledgerJob.job;
  await db.pool.query("UPDATE batch_jobs SET state = 'failed', completed_at = now() WHERE job_id = $1", [key.uuid]);
  const read = async () => {
    const { rows } = await db.pool.query(
      `SELECT h.amount, h.drawn, h.released, p.held, p.settled,
         (SELECT count(*)::int FROM ledger_entries WHERE subject_id = $1 AND event = 'batch.released') AS releases
       FROM holds h JOIN budget_periods p ON p.budget_id = $2 WHERE h.job_id = $1`,
      [key.uuid, ledgerJob.tenant.budgetId],
    );
    return rows[0];
  };
  return { ...ledgerJob, jobId, uuid: key.uuid, read };
}

test('money held by an open job is none of the sweep’s business', async () => {
  await runningLedgerJob(db);
  expect(await sweep('sweepMoney')).toEqual(NONE);
});

test('money still held for an ended job is given back once, by two sweeps at once, and the budget agrees', async () => {
  const job = await endedWithMoney();
  const before = await job.read();
  expect(Number(before.held)).toBeGreaterThan(0);
  const both = await Promise.all([sweep('sweepMoney'), sweep('sweepMoney')]);
  expect(both.map(({ repaired }) => repaired).toSorted()).toEqual([0, 1]);
  const after = await job.read();
  expect(Number(after.held)).toBe(0);
  expect(after).toMatchObject({ settled: before.settled, drawn: before.drawn, releases: 1 });
  expect(Number(after.released) + Number(after.drawn)).toBeCloseTo(Number(after.amount), 12);
  expect(await sweep('sweepMoney')).toEqual(NONE);
  expect(await findings(db)).toMatchObject([
    {
      ...{ kind: 'held_without_job', outcome: 'repaired', times: 1, subject: `${job.jobId}#1` },
      ...{ jobId: job.jobId, tenantId: job.tenant.tenantId, facts: { state: 'failed', was_released: false } },
    },
  ]);
  // Only the money was repaired: that an item has no outcome still shows.
  const { differences } = await verifyLedger(db, { jobId: job.jobId });
  expect(differences.filter(({ check }) => /held|released|law|reserved/.test(check))).toEqual([]);
});

test.each([
  ['was drawn on for less than was charged', 'UPDATE holds SET drawn = 0 WHERE job_id = $1'],
  ['differs from what was reserved', 'UPDATE holds SET amount = amount + 1 WHERE job_id = $1'],
])('a hold that %s stays held and is raised, each time', async (_what, sql) => {
  const job = await endedWithMoney();
  await db.pool.query(sql, [job.uuid]);
  const before = await job.read();
  expect(await sweep('sweepMoney')).toEqual({ ...NONE, looked: 1, raised: 1 });
  expect(await sweep('sweepMoney')).toEqual({ ...NONE, looked: 1, raised: 1 });
  expect(await job.read()).toEqual(before);
  expect(await findings(db)).toMatchObject([{ kind: 'held_without_job', outcome: 'raised', times: 2 }]);
});

test('a hold of an earlier submission, left behind by a draft, is given back', async () => {
  const { job } = await runningLedgerJob(db);
  const { key } = await getJobRow(db.pool, job.jobId);
  await db.pool.query("UPDATE batch_jobs SET state = 'draft' WHERE job_id = $1", [key.uuid]);
  expect(await sweep('sweepMoney')).toEqual({ ...NONE, looked: 1, repaired: 1 });
});

test('what the ledger does not agree with is raised with what was found', async () => {
  const job = await endedWithMoney();
  await db.pool.query('UPDATE job_progress SET settled_amount = settled_amount + 5 WHERE job_id = $1', [job.uuid]);
  const { differences } = await sweep('verifyLedgers');
  expect(differences).toBeGreaterThan(0);
  const raised = (await findings(db)).filter(({ jobId }) => jobId === job.jobId);
  expect(raised[0]).toMatchObject({ kind: 'ledger_difference', outcome: 'raised' });
  expect(raised[0]?.facts).toMatchObject({ check: expect.any(String), found: expect.any(String) });
});
