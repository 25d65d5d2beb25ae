import { afterAll, expect, test } from 'vitest';
import { createJobActivities } from '../../../activities/job.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { encodeProviderItemId } from '../../../domain/attempt-token.ts';
import { retryRuleOfCode } from '../../../domain/failure.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { testDependencies } from '../../harness/activities.ts';
import { FakeProvider } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const ITEMS = 4;

/** Reads as often as the shard's workflow would. */
async function ingestToTheEnd(shard: TestShard) {
  for (let reading = 1; ; reading += 1) {
    const result = await shard.ingest(reading);
    if (result.next !== 'again') return result;
  }
}

test.each([
  { done: 0, files: false, state: 'expired' },
  { done: 0, files: true, state: 'expired' },
  { done: 1, files: true, state: 'expired' },
  { done: ITEMS - 1, files: true, state: 'expired' },
  { done: ITEMS, files: true, state: 'completed' },
])(
  'a window that ends with $done of 4 items done (result files: $files) delivers and charges them, and the rest is free and may be retried',
  async ({ done, files, state }) => {
    const provider = new FakeProvider();
    const shard = await createTestShards(db, provider, { random: () => 0 }).newShard({ items: ITEMS });
    await shard.submit();
    const { attemptToken, providerBatchId } = await shard.attempt();
    const lines = Array.from({ length: done }, (_, index) => encodeProviderItemId(attemptToken, index + 1));
    if (files) provider.results.set(providerBatchId ?? '', lines);
    provider.move(providerBatchId ?? '', { phase: 'ended', end: 'expired', nativeStatus: 'expired' });
    expect(await shard.poll()).toMatchObject({ kind: 'ended', end: 'expired' });
    expect(await ingestToTheEnd(shard)).toMatchObject({
      next: 'close',
      reason: 'batch_expired',
      remaining: ITEMS - done,
    });
    await shard.close('batch_expired');
    const { jobId } = shard.ref;
    expect(await createJobActivities(testDependencies(db)).reconcileJob({ jobId })).toMatchObject({ state });
    const { key } = await getJobRow(db.pool, jobId);
    const { rows } = await db.pool.query(
      `SELECT error_code, count(*)::int AS items, bool_and(amount = 0) AS is_free FROM item_outcomes WHERE job_id = $1
       GROUP BY 1 ORDER BY 1`,
      [key.uuid],
    );
    expect(rows).toEqual([
      ...(done > 0 ? [{ error_code: '', items: done, is_free: false }] : []),
      ...(done < ITEMS ? [{ error_code: 'batch_expired', items: ITEMS - done, is_free: true }] : []),
    ]);
    const { rows: holds } = await db.pool.query(
      'SELECT amount = drawn + released AS is_given_back, drawn = 0 AS is_whole FROM holds WHERE job_id = $1',
      [key.uuid],
    );
    expect(holds.every(({ is_given_back: given, is_whole: whole }) => given && whole === (done === 0))).toBe(true);
    expect((await verifyLedger(db, { jobId })).differences).toEqual([]);
  },
);

test('items of an expired batch may be retried', () => {
  expect(retryRuleOfCode('batch_expired')).not.toBe('never');
});
