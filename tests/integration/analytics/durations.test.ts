import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { measureStages } from '../../../db/analytics.ts';
import type { AnalyticsFilter } from '../../../db/analytics-filter.ts';
import { type JobRow, lockJobRow } from '../../../db/job-rows.ts';
import { splitShard } from '../../../db/shard-split.ts';
import { getShard } from '../../../db/shards.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { ShardState } from '../../../domain/shard-state.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertTenant, type TestTenant } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';
import { closeShard, moveAt, playedJob } from './played-jobs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const SECOND = 1_000;

/** Plays moves at seconds after the job's admission, and settles both shards and the job at the last of them. */
async function play(
  job: JobRow,
  moves: readonly (readonly [number, number, ShardState])[],
  endAt: number,
): Promise<void> {
  const start = (job.admittedAt ?? new Date()).getTime();
  const at = (second: number) => new Date(start + second * SECOND);
  // The planned shards wait from the database's own time on; here all counts from one moment.
  await database.db.pool.query('UPDATE stage_times SET since = $2 WHERE job_id = $1', [job.key.uuid, at(0)]);
  for (const [second, shard, state] of moves) await moveAt(database.db, job, shard, state, at(second));
  const activities = createDatabaseActivities(testDependencies(database.db, { now: () => at(endAt) }));
  for (const shard of [1, 2])
    await runActivity(activities.closeShard, { jobId: job.jobId, shard, reason: 'batch_completed' as const });
  await runActivity(activities.reconcileJob, { jobId: job.jobId });
}

function of(tenant: TestTenant): AnalyticsFilter {
  const none = {
    projectId: null,
    customerId: null,
    apiKeyId: null,
    jobKind: null,
    endpoint: null,
    provider: null,
    model: null,
    from: null,
    to: null,
  };
  return {
    scope: { tenantId: tenant.tenantId, projectId: null, customerId: null },
    isCustomer: false,
    tenantId: null,
    ...none,
  };
}

test('the times of a job and of its shards are those between their moves, and come back from a wait add up', async () => {
  const tenant = await insertTenant(database.db);
  const job = await playedJob(database.db, tenant);
  await play(
    job,
    [
      [2, 1, 'creating'],
      [5, 1, 'running'],
      [6, 1, 'running'],
      [7, 2, 'running'],
      [9, 2, 'waiting'],
      [13, 2, 'running'],
      [20, 1, 'ingesting'],
      [25, 2, 'ingesting'],
    ],
    30,
  );
  expect(await measureStages(database.db.pool, of(tenant), [], 'jobs')).toEqual([
    {
      group: {},
      ended: 1,
      queued_mean: 5_000,
      queued_p95: 5_000,
      running_mean: 20_000,
      running_p95: 20_000,
      finalizing_mean: 5_000,
      finalizing_p95: 5_000,
    },
  ]);
  expect(await measureStages(database.db.pool, of(tenant), ['provider', 'model'], 'shards')).toEqual([
    {
      group: { provider: 'openai', model: 'gpt-4o-mini' },
      ended: 2,
      // 5 and 7 + 4; 15 and 2 + 12; 10 and 5.
      queued_mean: 8_000,
      queued_p95: 11_000,
      running_mean: 14_500,
      running_p95: 15_000,
      finalizing_mean: 7_500,
      finalizing_p95: 10_000,
    },
  ]);
});

test('a job that is being cancelled goes on through its stages', async () => {
  const tenant = await insertTenant(database.db);
  const job = await playedJob(database.db, tenant);
  const activities = createDatabaseActivities(testDependencies(database.db));
  await runActivity(activities.recordCancel, { jobId: job.jobId, by: 'key_test', reason: null });
  await play(
    job,
    [
      [3, 1, 'running'],
      [4, 1, 'cancelling'],
      [10, 1, 'ingesting'],
      [10, 2, 'ingesting'],
    ],
    11,
  );
  const [times] = await measureStages(database.db.pool, of(tenant), [], 'jobs');
  expect([times?.queued_mean, times?.running_mean, times?.finalizing_mean]).toEqual([3_000, 7_000, 1_000]);
});

test('the halves of a shard that was split keep the time it had waited', async () => {
  const tenant = await insertTenant(database.db);
  const job = await playedJob(database.db, tenant);
  const start = (job.admittedAt ?? new Date()).getTime();
  await database.db.pool.query('UPDATE stage_times SET since = $2 WHERE job_id = $1', [job.key.uuid, new Date(start)]);
  await inTransaction(database.db, async (client) =>
    splitShard(
      client,
      await lockJobRow(client, job.jobId),
      await getShard(client, job.key, 1),
      new Date(start + 4 * SECOND),
    ),
  );
  for (const shard of [3, 4]) await moveAt(database.db, job, shard, 'running', new Date(start + 6 * SECOND));
  const { rows } = await database.db.pool.query(
    'SELECT shard, stage, queued_ms FROM stage_times WHERE job_id = $1 AND shard <> 0 ORDER BY shard',
    [job.key.uuid],
  );
  expect(rows).toEqual([
    { shard: 2, stage: 'queued', queued_ms: '0' },
    { shard: 3, stage: 'running', queued_ms: '6000' },
    { shard: 4, stage: 'running', queued_ms: '6000' },
  ]);
});

test('the 95th percentile of twenty is the nineteenth, and what is open is not measured', async () => {
  const tenant = await insertTenant(database.db);
  const job = await playedJob(database.db, tenant);
  await closeShard(database.db, job, 1, 'cancelled');
  expect(await measureStages(database.db.pool, of(tenant), [], 'jobs')).toEqual([]);
  await database.db.pool.query('DELETE FROM stage_times WHERE job_id = $1', [job.key.uuid]);
  await database.db.pool.query(
    `INSERT INTO batch_shards (job_id, shard, first_item_no, last_item_no, requested_model, provider, provider_model, item_count, byte_count)
     SELECT $1, n, n, n, '', 'anthropic', 'm', 1, 1 FROM generate_series(101, 120) n`,
    [job.key.uuid],
  );
  await database.db.pool.query(
    `INSERT INTO stage_times (job_id, shard, since, ended_at, queued_ms) SELECT $1, n, now(), now(), (n - 100) * 10 FROM generate_series(101, 120) n`,
    [job.key.uuid],
  );
  const filter = { ...of(tenant), provider: 'anthropic' };
  expect(await measureStages(database.db.pool, filter, [], 'shards')).toMatchObject([
    { ended: 20, queued_mean: 105, queued_p95: 190, running_p95: 0 },
  ]);
});
