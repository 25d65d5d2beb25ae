import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isTerminal } from '../../../domain/job-state.ts';
import { WAVE_CLASSES } from '../../../domain/retry-policy.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';
import { startRetryJob, type TestEnd } from '../../harness/retry-jobs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function differencesOf(jobId: string) {
  return (await verifyLedger(database.db, { jobId })).differences;
}

test.each<[string, string, string]>([
  [
    'a count',
    'UPDATE job_progress SET completed = completed - 1, failed = failed + 1 WHERE job_id = $1',
    'items completed',
  ],
  ['a failure', `UPDATE job_progress SET failures = '{"rate_limited": 2}' WHERE job_id = $1`, 'failures by code'],
  ['a retry that is not counted', 'UPDATE job_progress SET retries = retries - 1 WHERE job_id = $1', 'retries'],
  [
    'an original without its retry',
    "UPDATE batch_items SET retried_by_item_id = NULL WHERE job_id = $1 AND custom_id = 'row_1'",
    'retries whose links are wrong',
  ],
  [
    'a retry of another item',
    'UPDATE batch_items SET retry_of_item_no = 2 WHERE job_id = $1 AND item_no = 4',
    'retries whose links are wrong',
  ],
])('the ledger’s check notices %s', async (_what, change, check) => {
  const job = await startRetryJob(database.db);
  await job.settle((customId) => (customId === 'row_3' ? 'completed' : 'rate_limited'));
  await job.plan();
  await job.start(2);
  await job.settle((customId) => (customId === 'row_1' ? 'completed' : 'rate_limited'));
  expect(await differencesOf(job.jobId)).toEqual([]);
  await database.db.pool.query(change, [(await job.row()).key.uuid]);
  expect((await differencesOf(job.jobId)).map((difference) => difference.check)).toContain(check);
});

test('whatever fails how often, under whatever policy, each item counts once and the money adds up', async () => {
  const end = fc.constantFrom<TestEnd>(
    'completed',
    'rate_limited',
    'malformed_result',
    'provider_lost',
    'batch_expired',
    'safety_blocked',
  );
  const scene = fc.record({
    tries: fc.array(fc.array(end, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
    maxAttempts: fc.integer({ min: 1, max: 4 }),
    classes: fc.subarray([...WAVE_CLASSES], { minLength: 1 }),
    billed: fc.constantFrom({ input: 0, output: 0 }, { input: 20, output: 10 }, { input: 20, output: 100 }),
  });
  await fc.assert(
    fc.asyncProperty(scene, async ({ tries, maxAttempts, classes, billed }) => {
      const policy = { maxAttempts, classes };
      const job = await startRetryJob(database.db, { items: tries.length, policy, billedFailures: billed });
      const endOf = (customId: string, attempt: number): TestEnd =>
        tries[Number(customId.slice('row_'.length)) - 1]?.[(attempt - 1) % 3] ?? 'completed';
      for (;;) {
        await job.settle(endOf);
        const plan = await job.plan();
        if (plan.kind === 'none') break;
        expect(plan.wave).toBeLessThanOrEqual(maxAttempts);
        expect(await job.start(plan.wave)).toEqual({ started: true });
      }
      const state = await job.reconcile();
      expect(isTerminal(state as never)).toBe(true);
      const { completed, failed, expired, cancelled } = await job.counts();
      expect(completed + failed + expired + cancelled).toBe(tries.length);
      expect(await differencesOf(job.jobId)).toEqual([]);
      const items = await job.items();
      expect(Math.max(...items.map((item) => item.item_attempt))).toBeLessThanOrEqual(maxAttempts);
    }),
    { numRuns: 10 },
  );
});
