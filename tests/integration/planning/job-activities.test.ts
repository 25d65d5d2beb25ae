import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const activities = () => createDatabaseActivities(testDependencies(database.db));

test('a cancel heard by a stale run leaves a draft a draft', async () => {
  const job = await insertJob(database.db, await insertTenant(database.db), { state: 'draft' });
  await runActivity(activities().recordCancel, { jobId: job.jobId, by: 'signal', reason: null });
  expect(await getJobRow(database.db.pool, job.jobId)).toMatchObject({ state: 'draft', cancelRequestedAt: null });
});

test('a run started for a job that was deleted meanwhile claims nothing and ends', async () => {
  const job = await insertJob(database.db, await insertTenant(database.db));
  await database.db.pool.query('DELETE FROM batch_jobs WHERE job_id = $1', [job.key.uuid]);
  const verdict = await runActivity(activities().admitJob, { jobId: job.jobId, submissionNo: 1 });
  expect(verdict).toEqual({ verdict: 'stale' });
});

test('the verdict on a submission cancelled before it was judged is the same however often it is asked for', async () => {
  const job = await insertJob(database.db, await insertTenant(database.db));
  await runActivity(activities().recordCancel, { jobId: job.jobId, by: 'signal', reason: 'changed my mind' });
  const judge = () => runActivity(activities().admitJob, { jobId: job.jobId, submissionNo: 1 });
  expect([await judge(), await judge()]).toEqual([{ verdict: 'cancelled' }, { verdict: 'cancelled' }]);
  expect(await getJobRow(database.db.pool, job.jobId)).toMatchObject({ state: 'cancelled' });
});

test('shards at work are shown and started before planned ones, which wait for the window', async () => {
  const job = await insertJob(database.db, await insertTenant(database.db), { items: 60, maxItemsPerShard: 1 });
  await runActivity(activities().admitJob, { jobId: job.jobId, submissionNo: 1 });
  await runActivity(activities().planShards, { jobId: job.jobId });
  await database.db.pool.query(`UPDATE batch_shards SET state = 'running' WHERE job_id = $1 AND shard = 60`, [
    job.key.uuid,
  ]);
  const view = await runActivity(activities().readShards, { jobId: job.jobId });
  expect(view).toMatchObject({ total: 60, settled: 0 });
  expect(view.open[0]).toEqual({ shard: 60, state: 'running' });
  expect(view.toStart.map(({ shard }) => shard)).toEqual([60, 1, 2, 3, 4, 5, 6, 7]);
});
