import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { JOB_KINDS } from '../../../domain/job-kind.ts';
import { lawHolds } from '../../../domain/ledger-entry.ts';
import { OVERAGE_POLICIES, splitCharge } from '../../../domain/overage.ts';
import { postAdjustment } from '../../../ledger/adjust.ts';
import { closeJob } from '../../../ledger/close-job.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { type LedgerJob, readMoney, refund, runningLedgerJob, settleItem } from './ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const ITEMS = 4;
const itemNo = fc.integer({ min: 1, max: ITEMS });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('settle' as const), itemNo, output: fc.nat(4_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('refund' as const), itemNo, part: fc.option(fc.bigInt(1n, 10n ** 9n)) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('adjust' as const),
      billed: fc.bigInt(0n, 10n ** 10n),
      invoice: fc.constantFrom('INV-1', 'INV-2'),
      account: fc.constantFrom('tenant' as const, 'gateway' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reconcile' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(of: LedgerJob, action: Step): Promise<void> {
  const { jobId } = of.job;
  if (action.kind === 'settle') await settleItem(db, of, action.itemNo, { input: 100, output: action.output });
  else if (action.kind === 'refund') await refund(db, of, action.itemNo, action.part);
  else if (action.kind === 'reconcile') await closeJob(db, jobId, new Date());
  else {
    const { billed, invoice, account } = action;
    const batch = { provider: 'openai', providerBatchId: of.providerBatchId, currency: 'USD' };
    await inTransaction(db, async (client) => {
      await client.query('SELECT 1 FROM batch_jobs WHERE job_id = $1 FOR NO KEY UPDATE', [of.job.key.uuid]);
      const request = { ...batch, billed, invoice, account, actor: 'key_operator' };
      await postAdjustment(client, await getJobRow(client, jobId), request);
    });
  }
}

async function expectLaws(of: LedgerJob): Promise<void> {
  const { reserved, settled, released, held, isEnded, budgetHeld, budgetSettled, entries } = await readMoney(db, of);
  const { over } = splitCharge(reserved, settled);
  expect(lawHolds({ reserved, overage: over, settled, released, held })).toBe(true);
  expect(entries.charged).toBe(settled);
  expect([budgetHeld, budgetSettled]).toEqual([held, settled]);
  if (isEnded) {
    expect(lawHolds({ ...entries, settled: entries.charged, held })).toBe(true);
    expect([entries.overage, entries.released]).toEqual([over, released]);
  }
  expect((await verifyLedger(db, { jobId: of.job.jobId })).differences).toEqual([]);
}

test('the laws hold at every step of any order of settling, refunding, adjusting and ending, each done twice', async () => {
  const scene = fc.record({
    kind: fc.constantFrom(...JOB_KINDS),
    policy: fc.constantFrom(...OVERAGE_POLICIES),
    later: fc.constantFrom(...OVERAGE_POLICIES),
    outputTokens: fc.constantFrom(1, 1_500),
    steps: fc.array(step, { minLength: 4, maxLength: 14 }),
    last: fc.array(step, { maxLength: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(scene, async ({ kind, policy, later, outputTokens, steps, last }) => {
      const of = await runningLedgerJob(db, { kind, items: ITEMS, policy, outputTokens });
      await db.pool.query('UPDATE tenants SET overage_policy = $2 WHERE tenant_id = $1', [of.tenant.tenantId, later]);
      const rest = [1, 2, 3, 4].map((no) => ({ kind: 'settle' as const, itemNo: no, output: 700 * no }));
      for (const action of [...steps, ...rest, { kind: 'reconcile' as const }, ...last]) {
        await take(of, action);
        const once = await readMoney(db, of);
        await take(of, action);
        expect(await readMoney(db, of)).toEqual(once);
        await expectLaws(of);
      }
      const { rows } = await db.pool.query('SELECT overage_policy FROM batch_jobs WHERE job_id = $1', [
        of.job.key.uuid,
      ]);
      expect(rows).toEqual([{ overage_policy: policy }]);
    }),
    { numRuns: 12 },
  );
  expect((await verifyLedger(db, {})).differences).toEqual([]);
}, 240_000);
