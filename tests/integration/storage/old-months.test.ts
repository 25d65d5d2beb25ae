import { afterAll, expect, test } from 'vitest';
import { newId, toUuid } from '../../../db/ids.ts';
import { dropEmptyMonths } from '../../../db/old-months.ts';
import { insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const { tenantId } = await insertTenant(db);

/** After all months of these tests. */
const NOW = new Date('2031-06-15T00:00:00Z');

async function dropMonths(now = NOW): Promise<string[]> {
  const client = await db.pool.connect();
  try {
    return await dropEmptyMonths(client, now);
  } finally {
    client.release();
  }
}

async function newMonth(bucket: number, state: string): Promise<string> {
  const uuid = toUuid('job', newId('job')) ?? '';
  await db.pool.query('SELECT ensure_partitions($1)', [bucket]);
  await db.pool.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, api_key_id, endpoint, requested_model, state, currency, created_at)
     VALUES ($1, $2, $3, 'key_x', 'chat.completions', 'm', $4, 'USD', now())`,
    [uuid, bucket, tenantId, state],
  );
  return uuid;
}

async function fill(bucket: number, uuid: string): Promise<void> {
  await db.pool.query("INSERT INTO item_requests (bucket, job_id, item_no, body) VALUES ($1, $2, 1, '{}')", [
    bucket,
    uuid,
  ]);
}

async function leavesOf(bucket: number): Promise<string[]> {
  const { rows } = await db.pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname ~ ('_' || $1 || '$') ORDER BY relname",
    [bucket],
  );
  return rows.map(({ name }) => name);
}

const ACCOUNTS = (bucket: number) =>
  ['batch_items', 'item_outcomes', 'ledger_entries'].map((table) => `${table}_${bucket}`);

test('a month without content is dropped, its accounts stay, and reading it finds nothing', async () => {
  const uuid = await newMonth(203001, 'completed');
  await fill(203001, uuid);
  expect(await dropMonths()).not.toContain('item_requests_203001');
  expect(await leavesOf(203001)).toContain('item_requests_203001');
  await db.pool.query('DELETE FROM item_requests WHERE bucket = 203001');
  expect(await dropMonths()).toEqual(['item_requests_203001']);
  expect(await leavesOf(203001)).toEqual(ACCOUNTS(203001));
  const { rowCount } = await db.pool.query('SELECT 1 FROM item_results WHERE bucket = 203001 AND job_id = $1', [uuid]);
  expect(rowCount).toBe(0);
  await db.pool.query('SELECT ensure_partitions(203001)');
  await fill(203001, uuid);
});

test.each(['draft', 'running'])('a month with a job that is %s stays, however empty', async (state) => {
  const bucket = state === 'draft' ? 203002 : 203003;
  await newMonth(bucket, state);
  await dropMonths();
  expect(await leavesOf(bucket)).toHaveLength(5);
});

test('this month and the one before stay', async () => {
  for (const bucket of [203106, 203105, 203104]) await newMonth(bucket, 'completed');
  await dropMonths();
  expect((await leavesOf(203106)).length + (await leavesOf(203105)).length).toBe(10);
  expect(await leavesOf(203104)).toEqual(ACCOUNTS(203104));
});

test('what was broken off is finished, and a row that came in between brings the month back', async () => {
  const uuid = await newMonth(203004, 'completed');
  await db.pool.query('ALTER TABLE item_requests DETACH PARTITION item_requests_203004');
  await db.pool.query('ALTER TABLE item_results DETACH PARTITION item_results_203004');
  await db.pool.query("INSERT INTO item_requests_203004 (bucket, job_id, item_no, body) VALUES (203004, $1, 1, '{}')", [
    uuid,
  ]);
  expect(await dropMonths()).toEqual(['item_results_203004']);
  const { rowCount } = await db.pool.query('SELECT 1 FROM item_requests WHERE bucket = 203004');
  expect(rowCount).toBe(1);
});

test('a month that somebody reads just now is left for the next run', async () => {
  await newMonth(203005, 'completed');
  const reader = await db.pool.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT 1 FROM item_requests WHERE bucket = 203005');
  const dropped = await dropMonths();
  expect(dropped).not.toContain('item_requests_203005');
  await reader.query('COMMIT');
  reader.release();
  const again = await dropMonths();
  expect(again).toContain('item_requests_203005');
});
