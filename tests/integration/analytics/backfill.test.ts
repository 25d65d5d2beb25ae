import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { MIGRATIONS_DIRECTORY } from '../../../db/migration-files.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { closeShard, type PlayedLine, playedJob, settleLines } from './played-jobs.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** The part of the migration that fills the tables, without the part that makes them. */
async function readBackfill(): Promise<string> {
  const sql = await readFile(join(MIGRATIONS_DIRECTORY, '20261130000008_rollups', 'migration.sql'), 'utf8');
  const [, backfill = ''] = sql.split('-- Of what was there before.\n');
  return backfill;
}

async function rowsOf(table: string): Promise<unknown[]> {
  return (await db.pool.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY t`)).rows;
}

const LINES: PlayedLine[] = [1, 2, 3, 5].map((itemNo) => ({
  itemNo,
  state: itemNo === 2 ? 'failed' : 'completed',
  code: itemNo === 2 ? 'provider_server_error' : null,
  tokens: [100 * itemNo, 10, 5, itemNo, 1],
  estimated: itemNo === 3,
  amount: BigInt(itemNo),
  customerAmount: itemNo === 5 ? 9n : null,
}));

test('what was there before the tables gives the rows that would have been kept', async () => {
  const tenant = await insertTenant(db);
  const activities = createDatabaseActivities(testDependencies(db));
  const [ended, open] = [await playedJob(db, tenant, { customerId: 'cust_1' }), await playedJob(db, tenant)];
  for (const job of [ended, open]) for (const shard of [1, 2]) await settleLines(db, job, shard, LINES);
  for (const shard of [1, 2]) await closeShard(db, ended, shard, 'batch_expired');
  await runActivity(activities.reconcileJob, { jobId: ended.jobId });
  const refused = await insertJob(db, tenant, { model: 'openai/unheard-of' });
  expect(await runActivity(activities.admitJob, { jobId: refused.jobId, submissionNo: 1 })).toEqual({
    verdict: 'refused',
  });
  const kept = ['job_rollups', 'job_estimates', 'refusal_rollups'];
  const before = await Promise.all(kept.map(rowsOf));
  expect(before.map((rows) => rows.length > 0)).toEqual([true, true, true]);
  await db.pool.query('TRUNCATE job_rollups, job_estimates, refusal_rollups, stage_times');
  await db.pool.query(await readBackfill());
  expect(await Promise.all(kept.map(rowsOf))).toEqual(before);
});

test('times of before are derived from when batches were accepted and ended', async () => {
  const tenant = await insertTenant(db);
  const job = await playedJob(db, tenant);
  const at = (second: number) => new Date(Date.UTC(2026, 0, 31) + second * 1_000);
  const values = [job.key.uuid, at(0), at(3), at(10), at(14)];
  await db.pool.query('UPDATE batch_jobs SET admitted_at = $2, state = $3 WHERE job_id = $1', [
    job.key.uuid,
    at(0),
    'running',
  ]);
  await db.pool.query(
    `UPDATE batch_shards SET created_at = $2, state = CASE shard WHEN 1 THEN 'settled' ELSE 'running' END,
       settled_at = CASE shard WHEN 1 THEN $5::timestamptz END, attempt = 1 WHERE job_id = $1 AND $3::timestamptz < $4::timestamptz`,
    values,
  );
  await db.pool.query(
    `UPDATE batch_provider_metadata SET accepted_at = $3, ended_at = CASE shard WHEN 1 THEN $4::timestamptz END
     WHERE job_id = $1 AND $2::timestamptz < $5::timestamptz`,
    values,
  );
  await db.pool.query('TRUNCATE job_rollups, job_estimates, refusal_rollups, stage_times');
  await db.pool.query(await readBackfill());
  const { rows } = await db.pool.query(
    `SELECT shard, stage, queued_ms, running_ms, finalizing_ms, ended_at FROM stage_times WHERE job_id = $1 ORDER BY shard`,
    [job.key.uuid],
  );
  const open = { queued_ms: '3000', running_ms: '0', finalizing_ms: '0', ended_at: null };
  expect(rows).toEqual([
    { shard: 0, stage: 'running', ...open },
    { shard: 1, stage: null, queued_ms: '3000', running_ms: '7000', finalizing_ms: '4000', ended_at: at(14) },
    { shard: 2, stage: 'running', ...open },
  ]);
});
