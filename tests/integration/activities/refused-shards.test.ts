import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { settleRejectedLines } from '../../../activities/rejected-lines.ts';
import { getAttempt } from '../../../db/attempts.ts';
import { getJobRow, lockJobRow } from '../../../db/job-rows.ts';
import { splitShard } from '../../../db/shard-split.ts';
import { countOpenItems, getShard, listShards, moveShard } from '../../../db/shards.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { settleRemainder } from '../../../ledger/settle.ts';
import type { NativeBatch } from '../../../providers/provider.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** An accepted job of one shard, its first attempt begun. */
async function beginJob(options: Parameters<typeof insertJob>[2]) {
  const { db } = database;
  const activities = createDatabaseActivities(testDependencies(db));
  const { jobId } = await insertJob(db, await insertTenant(db), options);
  await runActivity(activities.admitJob, { jobId, submissionNo: 1 });
  await runActivity(activities.planShards, { jobId });
  await runActivity(activities.nextStep, { jobId, shard: 1 });
  const job = await getJobRow(db.pool, jobId);
  return { job, activities, shard: await getShard(db.pool, job.key, 1), ref: { jobId, shard: 1 } };
}

const REMAINDER = {
  state: 'failed',
  failureClass: 'validation',
  code: 'invalid_request',
  message: '',
  nativeError: null,
} as const;

function failedAt(...lines: (number | null)[]): NativeBatch {
  return {
    ...{ providerBatchId: 'b', phase: 'ended', end: 'failed', nativeStatus: 'failed', nativeCounts: null },
    ...{ progress: null, createdAt: null, expiresAt: null, inputFileId: null, outputFileId: null, errorFileId: null },
    ...{ operationName: null, capacityRefused: false },
    validationErrors: lines.map((line) => ({ code: 'invalid', message: 'no', line, param: null })),
  } as NativeBatch;
}

async function failedItems(jobId: string): Promise<number[]> {
  const { rows } = await database.db.pool.query<{ item_no: number }>(
    'SELECT item_no FROM item_outcomes WHERE job_id = $1 ORDER BY item_no',
    [(await getJobRow(database.db.pool, jobId)).key.uuid],
  );
  return rows.map(({ item_no }) => item_no);
}

test('lines a batch was refused for name the items of its own input, however often they are read', async () => {
  const { job, shard, ref, activities } = await beginJob({ items: 6 });
  const { db } = database;
  // What an earlier attempt has settled is in no input of this one: line 2 is item 3.
  const first = { job, shard, attempt: 0, firstItemNo: 2, lastItemNo: 2 };
  await settleRemainder(db, first, REMAINDER);
  const reading = { job, shard, attempt: await getAttempt(db.pool, job.key, 1, 1) };
  expect(await settleRejectedLines(db, reading, failedAt(2, 4))).toEqual({ named: 2, settled: 2 });
  expect(await failedItems(ref.jobId)).toEqual([2, 3, 5]);
  expect(await settleRejectedLines(db, reading, failedAt(2, 4))).toEqual({ named: 2, settled: 0 });
  expect(await settleRejectedLines(db, reading, failedAt(0, -1, null, 6, 99))).toEqual({ named: 0, settled: 0 });
  expect(await failedItems(ref.jobId)).toEqual([2, 3, 5]);
  expect(await runActivity(activities.nextStep, ref)).toMatchObject({ kind: 'submit', attempt: 1 });
});

async function split(jobId: string, number: number): Promise<boolean> {
  return inTransaction(database.db, async (client) => {
    const job = await lockJobRow(client, jobId);
    return splitShard(client, job, await getShard(client, job.key, number), new Date());
  });
}

test('a shard splits into halves of about its bytes, which hold its items once each, and is itself done with', async () => {
  const size = (no: number) => (no === 1 ? 6_000 : 1_000);
  const body = (no: number) => ({ messages: [{ role: 'user', content: 'x'.repeat(size(no)) }], max_tokens: 100 });
  const { job, ref, activities } = await beginJob({ items: 7, body });
  expect(await split(ref.jobId, 1)).toBe(true);
  const shards = await listShards(database.db.pool, job.key);
  expect(
    shards.map(({ shard, firstItemNo, lastItemNo, itemCount, state }) => [
      shard,
      firstItemNo,
      lastItemNo,
      itemCount,
      state,
    ]),
  ).toEqual([
    [1, 1, 7, 7, 'superseded'],
    [2, 1, 1, 1, 'planned'],
    [3, 2, 7, 6, 'planned'],
  ]);
  expect(await runActivity(activities.nextStep, ref)).toEqual({ kind: 'settled' });
  expect(await runActivity(activities.readShards, { jobId: ref.jobId })).toMatchObject({ total: 3, settled: 1 });
  await inTransaction(database.db, async (client) => {
    const locked = await lockJobRow(client, ref.jobId);
    await moveShard(client, locked, 1, { state: 'running', now: new Date() });
  });
  expect((await getShard(database.db.pool, job.key, 1)).state).toBe('superseded');
});

test('a shard with one open item left does not split, whatever it once held', async () => {
  const { job, shard, ref } = await beginJob({ items: 3 });
  await settleRemainder(database.db, { job, shard, attempt: 0, firstItemNo: 1, lastItemNo: 1 }, REMAINDER);
  expect(await split(ref.jobId, 1)).toBe(true);
  const [, left, right] = await listShards(database.db.pool, job.key);
  if (left === undefined || right === undefined) throw new Error('the shard was split');
  expect(await countOpenItems(database.db.pool, job.key, left)).toBe(1);
  expect(await countOpenItems(database.db.pool, job.key, right)).toBe(1);
  expect(await split(ref.jobId, left.shard)).toBe(false);
  expect((await listShards(database.db.pool, job.key)).length).toBe(3);
});
