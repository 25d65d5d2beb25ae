import { afterAll, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { postAdjustment } from '../../../ledger/adjust.ts';
import type { LedgerAccount } from '../../../ledger/entries.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedLedgerJob, type LedgerJob, refund } from './ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const MUCH = { input: 1_000, output: 50_000 };

async function adjust(of: LedgerJob, billed: bigint, invoice: string, account: LedgerAccount): Promise<void> {
  const request = { provider: 'openai', providerBatchId: of.providerBatchId, currency: 'USD' };
  await inTransaction(db, async (client) => {
    const job = await getJobRow(client, of.job.jobId);
    expect(await postAdjustment(client, job, { ...request, billed, invoice, account, actor: 'key' })).toBe(true);
  });
}

/** As somebody with the database's own rights could: the triggers are off. */
async function alter(of: LedgerJob, sql: string): Promise<string[]> {
  expect((await verifyLedger(db, { jobId: of.job.jobId })).differences).toEqual([]);
  const client = await db.pool.connect();
  try {
    await client.query("SET session_replication_role = 'replica'");
    const { rowCount } = await client.query(sql, [of.job.key.uuid]);
    expect(rowCount).toBe(1);
  } finally {
    await client.query('RESET session_replication_role');
    client.release();
  }
  const { differences } = await verifyLedger(db, { jobId: of.job.jobId });
  return differences.map(({ subject, check }) => `${subject.replace(of.job.jobId, 'job')}: ${check}`);
}

const LEDGER = 'UPDATE ledger_entries SET amount = amount + 1 WHERE subject_id = $1 AND';

test.each([
  [
    'an item',
    'UPDATE batch_items SET refunded_amount = 0 WHERE job_id = $1',
    'item 1: refunded against ledger entries',
  ],
  ['an item', 'UPDATE batch_items SET refunded_amount = 1 WHERE job_id = $1', 'item 1: refunded within the charge'],
  ['a refund', `${LEDGER} event = 'batch.item.refunded'`, 'item 1: refunded against ledger entries'],
  [
    'a release that a refund added to',
    `${LEDGER} event = 'batch.released' AND item_no = 1`,
    'job: released in ledger entries',
  ],
])('verify names %s that was altered', async (_, sql, expected) => {
  const of = await endedLedgerJob(db, { outputTokens: 60_000 }, [MUCH]);
  await refund(db, of, 1);
  expect((await alter(of, sql)).join('\n')).toContain(expected);
});

test.each([
  ['charge', `${LEDGER} event = 'batch.overage'`, 'job: overage charged at the end'],
  ['cap', `${LEDGER} event = 'batch.overage'`, 'job: overage absorbed at the end'],
  ['cap', `${LEDGER} event = 'batch.adjusted'`, 'job: taken off the charge at the end'],
  ['cap', 'UPDATE batch_jobs SET overage_amount = 0.01 WHERE job_id = $1', 'job: overage of the job'],
  ['charge', "UPDATE batch_jobs SET overage_outcome = 'absorbed' WHERE job_id = $1", 'job: outcome of the overage'],
  ['charge', 'UPDATE batch_jobs SET settled_amount = 0 WHERE job_id = $1', 'job: settled amount of the job'],
  [
    'suspend',
    'UPDATE spending_suspensions SET overage_amount = 1 WHERE job_id = $1',
    'job: suspensions of another amount',
  ],
  ['suspend', 'DELETE FROM spending_suspensions WHERE job_id = $1', 'job: suspended a scope'],
] as const)('verify names what %s left and was altered: %s', async (policy, sql, expected) => {
  const of = await endedLedgerJob(db, { policy }, [MUCH]);
  expect((await alter(of, sql)).join('\n')).toContain(expected);
});

test.each([
  ['gateway', `${LEDGER} event = 'batch.adjusted'`, 'invoice INV-1: adjustment against its ledger entry'],
  ['tenant', `${LEDGER} event = 'batch.adjusted'`, 'job: settled amount against ledger entries'],
  [
    'gateway',
    "UPDATE ledger_entries SET account = 'tenant' WHERE subject_id = $1 AND event = 'batch.adjusted'",
    'account of the adjustment',
  ],
  [
    'gateway',
    'UPDATE provider_adjustments SET billed_amount = billed_amount + 1, charged_amount = charged_amount + 1 WHERE job_id = $1',
    'charged before the adjustment',
  ],
  ['gateway', 'DELETE FROM provider_adjustments WHERE job_id = $1', 'job: invoice adjustments in ledger entries'],
  ['tenant', `${LEDGER} event = 'batch.overage'`, 'job: overage'],
] as const)('verify names an adjustment of the %s that was altered: %s', async (account, sql, expected) => {
  const of = await endedLedgerJob(db, {}, [MUCH]);
  const once = sql.includes('batch.overage') ? `${sql} AND ordinal > 1` : sql;
  await adjust(of, 10n ** 12n, 'INV-1', account);
  expect((await alter(of, once)).join('\n')).toContain(expected);
});

test('adjustments cannot be changed or taken back by anybody with the gateway’s rights', async () => {
  const of = await endedLedgerJob(db, {}, [MUCH]);
  await adjust(of, 10n ** 12n, 'INV-1', 'gateway');
  await expect(db.pool.query('UPDATE provider_adjustments SET amount = 1')).rejects.toThrow('append-only');
  await expect(db.pool.query('DELETE FROM provider_adjustments')).rejects.toThrow('append-only');
});
