import { afterAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { getJobRow, type JobRow } from '../../../db/job-rows.ts';
import { listOutputHistory } from '../../../db/output-history.ts';
import { clearStage, stageLines } from '../../../db/result-stage.ts';
import { getShard } from '../../../db/shards.ts';
import { findSubmission } from '../../../db/submissions.ts';
import { itemStateCode } from '../../../domain/item-state.ts';
import { settleStaged } from '../../../ledger/settle.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { FakeProvider } from '../../harness/fake-provider.ts';
import { insertJob, insertTenant, type TestJobOptions, type TestTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const activities = createDatabaseActivities(testDependencies(db));

const UNCAPPED = {
  items: 60,
  outputTokens: 0,
  body: (itemNo: number) => ({ messages: [{ role: 'user', content: `question ${itemNo}` }] }),
};

async function admit(tenant: TestTenant, options: TestJobOptions): Promise<JobRow> {
  const { jobId } = await insertJob(db, tenant, options);
  expect(await runActivity(activities.admitJob, { jobId, submissionNo: 1 })).toEqual({ verdict: 'accepted' });
  return getJobRow(db.pool, jobId);
}

/** Runs a job to its end, every reply of so many tokens. */
async function run(tenant: TestTenant, options: TestJobOptions, outputTokens: number): Promise<JobRow> {
  const { jobId } = await admit(tenant, options);
  await runActivity(activities.planShards, { jobId });
  await runActivity(activities.nextStep, { jobId, shard: 1 });
  const job = await getJobRow(db.pool, jobId);
  const { rows } = await db.pool.query('SELECT attempt_no FROM batch_provider_metadata WHERE job_id = $1', [
    job.key.uuid,
  ]);
  const attemptNo: string = rows[0].attempt_no;
  const lines = Array.from({ length: job.itemCount }, (_, index) => completedLine(index + 1, outputTokens));
  await clearStage(db, attemptNo);
  await stageLines(db, attemptNo, lines);
  const shard = await getShard(db.pool, job.key, 1);
  const range = { job, shard, attempt: 1, firstItemNo: shard.firstItemNo, lastItemNo: shard.lastItemNo };
  await settleStaged(db, range, attemptNo, lines.length);
  await runActivity(activities.closeShard, { jobId, shard: 1, reason: 'batch_completed' as const });
  await runActivity(activities.reconcileJob, { jobId });
  return job;
}

function completedLine(itemNo: number, outputTokens: number) {
  const none = { cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, estimated: false };
  return {
    ...{ itemNo, rank: 0, file: 1, line: itemNo, state: itemStateCode('completed'), failureClass: '', errorCode: '' },
    ...{ usage: { ...none, inputTokens: 10, outputTokens }, amount: 1n, model: 'gpt-4o-mini', responseHash: null },
    ...{ body: '{}', errorMessage: null, nativeError: null },
  };
}

async function expectedOutput(job: JobRow) {
  return (await findSubmission(db.pool, job.key, 1))?.quote?.expected_output;
}

test('replies without a cap teach what later ones are held for, once for each job', async () => {
  const tenant = await insertTenant(db);
  const first = await run(tenant, UNCAPPED, 300);
  expect(await expectedOutput(first)).toMatchObject([{ method: 'default', replies: 60, tokens_each: 2_048 }]);
  const known = await listOutputHistory(db.pool, first);
  expect(known).toMatchObject([{ provider: 'openai', model: 'gpt-4o-mini', reasons: false }]);
  expect(known[0]?.classes.map((replies, place) => [place, replies]).filter(([, replies]) => replies !== 0)).toEqual([
    [8, 60],
  ]);
  await runActivity(activities.reconcileJob, { jobId: first.jobId });
  expect(await listOutputHistory(db.pool, first)).toEqual(known);

  const second = await admit(tenant, UNCAPPED);
  expect(await expectedOutput(second)).toEqual([
    {
      ...{ requested_model: '', provider: 'openai', model: 'gpt-4o-mini', method: 'learned', reasons: false },
      ...{ replies: 60, tokens_each: 486, known_replies: 60, tokens: 60 * 486 },
    },
  ]);
  const elsewhere = await admit(await insertTenant(db), UNCAPPED);
  expect(await expectedOutput(elsewhere)).toMatchObject([{ method: 'default' }]);
});

test('replies with a cap teach nothing', async () => {
  const job = await run(await insertTenant(db), { items: 60, outputTokens: 400 }, 300);
  expect(await expectedOutput(job)).toMatchObject([{ method: 'cap', tokens: 60 * 400 }]);
  expect(await listOutputHistory(db.pool, job)).toEqual([]);
});

test('what was learned long ago counts half beside many', async () => {
  const tenant = await insertTenant(db);
  await db.pool.query(
    `INSERT INTO output_history (tenant_id, endpoint, provider, model, reasons, classes)
     VALUES ($1, 'chat.completions', 'openai', 'gpt-4o-mini', false, ARRAY[10001, 7] || array_fill(0::bigint, ARRAY[30]))`,
    [tenant.tenantId],
  );
  const job = await run(tenant, UNCAPPED, 300);
  const [known] = await listOutputHistory(db.pool, job);
  expect(known?.classes.slice(0, 9)).toEqual([5_000, 3, 0, 0, 0, 0, 0, 0, 60]);
});

test('a provider that wants a cap is told what is held, also when more was learned since', async () => {
  const provider = new FakeProvider();
  const shard = await createTestShards(db, provider).newShard({ ...UNCAPPED, items: 2 });
  const job = await getJobRow(db.pool, shard.ref.jobId);
  const [held] = (await expectedOutput(job)) ?? [];
  await db.pool.query(
    `INSERT INTO output_history (tenant_id, endpoint, provider, model, reasons, classes)
     SELECT $1, 'chat.completions', provider, provider_model, false, array_fill(0::bigint, ARRAY[5]) || 1000::bigint || array_fill(0::bigint, ARRAY[26])
     FROM batch_shards WHERE job_id = $2`,
    [job.tenantId, job.key.uuid],
  );
  await shard.submit();
  expect(held?.tokens_each).toBe(2_048);
  expect(provider.encoded.map(({ defaultMaxOutputTokens }) => defaultMaxOutputTokens)).toEqual([2_048, 2_048]);
});

test('an explanation learned from earlier replies is what is sent as the cap', async () => {
  const provider = new FakeProvider();
  const shards = createTestShards(db, provider);
  const tenants = await shards.newShard({ ...UNCAPPED, items: 1 });
  const { tenantId } = await getJobRow(db.pool, tenants.ref.jobId);
  await db.pool.query(
    `INSERT INTO output_history (tenant_id, endpoint, provider, model, reasons, classes)
     SELECT $1, 'chat.completions', provider, provider_model, false, array_fill(0::bigint, ARRAY[13]) || 100::bigint || array_fill(0::bigint, ARRAY[18])
     FROM batch_shards WHERE job_id = (SELECT job_id FROM batch_jobs WHERE tenant_id = $1)`,
    [tenantId],
  );
  const later = await admit({ tenantId, budgetId: null }, { ...UNCAPPED, items: 1 });
  await runActivity(activities.planShards, { jobId: later.jobId });
  const [held] = (await expectedOutput(later)) ?? [];
  expect(held?.method).toBe('learned');
  await shards.shardOf(later.jobId, 1).submit();
  expect(provider.encoded.map(({ defaultMaxOutputTokens }) => defaultMaxOutputTokens)).toEqual([held?.tokens_each]);
});
