import { afterAll, beforeAll, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { heldBytes } from '../../harness/held-memory.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { settleItems } from '../../harness/settled-items.ts';

const ITEMS = 200_000;
/** Of one item. */
const AMOUNT = '0.0000004';
const MAX_GROWTH_BYTES = 48 * 1024 ** 2;
const TIMEOUT_MS = 240_000;

const { db, drop } = await createTestDatabase();
const api = createTestApi(db);
let caller: ApiCaller;
beforeAll(async () => {
  caller = await api.caller();
  const jobId = await caller.submitted(1);
  await settleItems(db, jobId, [{ itemNo: 1, amount: AMOUNT }]);
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query(
    `INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, custom_id, request_hash, request_bytes, features, estimated_tokens, estimated_output_tokens)
     SELECT $1, $2, no, 1, 'item-' || no, '\\x00', 1, 0, 1, 1 FROM generate_series(2, $3::int) no`,
    [key.bucket, key.uuid, ITEMS],
  );
  await db.pool.query(
    `INSERT INTO item_outcomes (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
       cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model)
     SELECT $1, $2, no, no, 1, 1, state, '', '', 10, 0, 0, 0, 5, 0, false, amount, model
     FROM item_outcomes, generate_series(2, $3::int) no WHERE bucket = $1 AND job_id = $2`,
    [key.bucket, key.uuid, ITEMS],
  );
  await db.pool.query('UPDATE batch_jobs SET item_count = $2 WHERE job_id = $1', [key.uuid, ITEMS]);
}, TIMEOUT_MS);
afterAll(drop);

test('two hundred thousand records stream in bounded memory, and no transaction waits for the reader', {
  timeout: TIMEOUT_MS,
}, async () => {
  const response = await api.app.request('/v1/usage?level=item&format=ndjson', {
    headers: { authorization: `Bearer ${caller.key}` },
  });
  const before = heldBytes();
  let [bytes, lines, chunks, growth] = [0, 0, 0, 0];
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    lines += Buffer.from(chunk).toString('latin1').split('\n').length - 1;
    chunks += 1;
    if (chunks % 25 !== 0) continue;
    growth = Math.max(growth, heldBytes() - before);
    const { rows } = await db.pool.query(
      `SELECT count(*)::int AS open FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend'`,
    );
    expect(rows[0].open).toBe(0);
  }
  expect(lines).toBe(ITEMS);
  expect(bytes).toBeGreaterThan(2 * MAX_GROWTH_BYTES);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
});

test('a record of the whole job and its sum by group are exact', { timeout: TIMEOUT_MS }, async () => {
  const records = (await caller.get('/v1/usage')).json.data;
  const groups = (await caller.get('/v1/usage?group_by=model')).json.data;
  expect([records.length, records[0].items, records[0].cost]).toEqual([1, ITEMS, '0.08']);
  expect(groups).toMatchObject([{ items: ITEMS, cost: '0.08' }]);
});
