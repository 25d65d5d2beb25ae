import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import type { JobRow } from '../../../db/job-rows.ts';
import { readOpenItems } from '../../../db/open-items.ts';
import { getShard, listShards } from '../../../db/shards.ts';
import { setMaxItemsPerShard } from '../../../db/tenants.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant, type TestJobOptions } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function planned(
  options: TestJobOptions,
  prepare: (job: JobRow) => Promise<void> = async () => undefined,
): Promise<JobRow> {
  const activities = createDatabaseActivities(testDependencies(database.db));
  const job = await insertJob(database.db, await insertTenant(database.db, { limit: null }), options);
  await prepare(job);
  await runActivity(activities.admitJob, { jobId: job.jobId, submissionNo: 1 });
  await runActivity(activities.planShards, { jobId: job.jobId });
  await runActivity(activities.planShards, { jobId: job.jobId });
  return job;
}

async function rangesOf(job: JobRow): Promise<[first: number, last: number, items: number][]> {
  const shards = await listShards(database.db.pool, job.key);
  return shards.map(({ firstItemNo, lastItemNo, itemCount }) => [firstItemNo, lastItemNo, itemCount]);
}

test('a job is cut by the number of items it asks for, once', async () => {
  const job = await planned({ items: 25, maxItemsPerShard: 10 });
  expect(await rangesOf(job)).toEqual([
    [1, 10, 10],
    [11, 20, 10],
    [21, 25, 5],
  ]);
});

test('a tenant may ask for smaller shards of all its jobs, and a job for still smaller ones', async () => {
  const prepare = async ({ tenantId }: JobRow): Promise<void> => {
    await setMaxItemsPerShard(database.db.pool, tenantId, 12);
  };
  expect(await rangesOf(await planned({ items: 25 }, prepare))).toEqual([
    [1, 12, 12],
    [13, 24, 12],
    [25, 25, 1],
  ]);
  expect((await rangesOf(await planned({ items: 25, maxItemsPerShard: 20 }, prepare)))[0]).toEqual([1, 12, 12]);
  expect((await rangesOf(await planned({ items: 25, maxItemsPerShard: 5 }, prepare)))[0]).toEqual([1, 5, 5]);
});

test('no shard is larger than what the provider has said lately that its queue takes', async () => {
  const job = await planned({ items: 9, model: 'openai/gpt-4.1' }, async ({ key }) => {
    const { pool } = database.db;
    await pool.query('UPDATE batch_items SET estimated_tokens = 400 WHERE job_id = $1', [key.uuid]);
    await pool.query(
      `INSERT INTO capacity_accounts (credential_id, provider, provider_model, last_refused_at, known_limit_tokens)
       VALUES ('gateway', 'openai', 'gpt-4.1', now(), 1700)`,
    );
  });
  expect(await rangesOf(job)).toEqual([
    [1, 4, 4],
    [5, 8, 4],
    [9, 9, 1],
  ]);
});

test('I-09: few but large items are cut by bytes', async () => {
  const job = await planned({ items: 5 }, async ({ key }) => {
    await database.db.pool.query('UPDATE batch_items SET request_bytes = 80000000 WHERE job_id = $1', [key.uuid]);
  });
  expect(await rangesOf(job)).toEqual([
    [1, 2, 2],
    [3, 4, 2],
    [5, 5, 1],
  ]);
});

test('embeddings are cut by the texts they hold', async () => {
  const options = {
    items: 3,
    endpoint: 'embeddings',
    model: 'embedding-small',
    body: () => ({ input: ['a', 'b'] }),
  } as const;
  const job = await planned(options, async ({ key }) => {
    await database.db.pool.query('UPDATE batch_items SET embedding_inputs = 20000 WHERE job_id = $1', [key.uuid]);
  });
  expect(await rangesOf(job)).toEqual([
    [1, 2, 2],
    [3, 3, 1],
  ]);
});

test('items that name their own model get shards of their own, in the same range of numbers', async () => {
  const job = await planned({ items: 6 }, async ({ key }) => {
    await database.db.pool.query(
      `UPDATE batch_items SET requested_model = 'openai/gpt-4o' WHERE job_id = $1 AND item_no % 2 = 0`,
      [key.uuid],
    );
    await database.db.pool.query(
      `INSERT INTO job_item_groups (job_id, manifest_no, requested_model, features, token_class, items, bytes, largest_bytes, input_tokens, output_tokens, uncapped_items)
       VALUES ($1, 1, 'openai/gpt-4o', 0, 4, 3, 300, 100, 60, 300, 0)`,
      [key.uuid],
    );
  });
  const shards = await listShards(database.db.pool, job.key);
  expect(
    shards.map(({ providerModel, firstItemNo, lastItemNo, itemCount }) => [
      providerModel,
      firstItemNo,
      lastItemNo,
      itemCount,
    ]),
  ).toEqual([
    ['gpt-4o-mini', 1, 5, 3],
    ['gpt-4o', 2, 6, 3],
  ]);
  const read = await Array.fromAsync(
    readOpenItems(database.db.pool, job.key, await getShard(database.db.pool, job.key, 2)),
  );
  expect(read.flat().map(({ itemNo }) => itemNo)).toEqual([2, 4, 6]);
});

test('open items come in order and in pages bounded by bytes, without those that have an outcome', async () => {
  const job = await planned({ items: 12 }, async ({ key }) => {
    await database.db.pool.query('UPDATE batch_items SET request_bytes = 1500000 WHERE job_id = $1', [key.uuid]);
  });
  const activities = createDatabaseActivities(testDependencies(database.db));
  await database.db.pool.query(
    `INSERT INTO item_outcomes (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens, cached_input_tokens,
       cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model)
     SELECT $1, $2, no, no, 1, 1, 2, '', '', 0, 0, 0, 0, 0, 0, false, 0, 'm' FROM unnest(ARRAY[1, 5, 12]) AS t (no)`,
    [job.key.bucket, job.key.uuid],
  );
  const pages = await Array.fromAsync(
    readOpenItems(database.db.pool, job.key, await getShard(database.db.pool, job.key, 1)),
  );
  expect(pages.flat().map(({ itemNo }) => itemNo)).toEqual([2, 3, 4, 6, 7, 8, 9, 10, 11]);
  expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(2);
  expect(await runActivity(activities.nextStep, { jobId: job.jobId, shard: 1 })).toMatchObject({
    kind: 'submit',
    items: 9,
  });
});
