import { afterAll, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { measureResults } from '../../../db/result-bytes.ts';
import { type Answer, type ApiCaller, chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

const JOB = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' };

async function callerWith(policy: Record<string, unknown>): Promise<ApiCaller> {
  const tenantId = await api.tenant();
  await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, policy]);
  return api.caller('tenant_admin', { tenantId });
}

function itemsFrom(first: number, count: number) {
  return { items: Array.from({ length: count }, (_, index) => chatItem(`row_${first + index}`)) };
}

function append(caller: ApiCaller, jobId: string, first: number, count: number): Promise<Answer> {
  return caller.post(`/v1/batch-jobs/${jobId}/items`, itemsFrom(first, count));
}

test('twenty drafts at once against a cap of ten make ten', async () => {
  const caller = await callerWith({ max_drafts: 10 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => caller.post('/v1/batch-jobs', JOB)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(new Set(refused.map(({ json }) => json.error))).toEqual(new Set(['quota_exceeded']));
  expect(refused[0]?.status).toBe(429);
  expect(refused[0]?.json.message).toMatch(
    /may have 10 drafts and has 10\. .*accepted, cancelled or deleted makes room/,
  );
});

test('a draft that is deleted, cancelled or accepted makes room', async () => {
  const caller = await callerWith({ max_drafts: 1 });
  const frees = [
    (jobId: string) => caller.call('DELETE', `/v1/batch-jobs/${jobId}`),
    (jobId: string) => caller.post(`/v1/batch-jobs/${jobId}/cancel`),
    (jobId: string) => caller.post(`/v1/batch-jobs/${jobId}/submit`),
  ];
  for (const free of frees) {
    const jobId = await caller.draft(1);
    expect((await caller.post('/v1/batch-jobs', JOB)).status).toBe(429);
    expect((await free(jobId)).status).toBeLessThan(300);
  }
  expect((await caller.post('/v1/batch-jobs', JOB)).status).toBe(201);
});

test('a repeated create with its key is answered as before, whatever the cap', async () => {
  const caller = await callerWith({ max_drafts: 1 });
  const key = { 'idempotency-key': 'once' };
  const first = await caller.post('/v1/batch-jobs', JOB, key);
  expect(await caller.post('/v1/batch-jobs', JOB, key)).toMatchObject({ status: 201, json: first.json });
});

test('items at once in several jobs never go beyond the cap', async () => {
  const caller = await callerWith({ max_open_items: 50 });
  const jobs = await Promise.all(Array.from({ length: 8 }, () => caller.draft(0)));
  const answers = await Promise.all(jobs.map((jobId) => append(caller, jobId, 1, 10)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  const refused = answers.find(({ status }) => status !== 200);
  expect(refused).toMatchObject({ status: 429, json: { error: 'quota_exceeded' } });
  expect(refused?.json.message).toMatch(/may have 50 items in jobs .* has 50, and this would add 10\./);
});

test('what is there already may be sent again at the cap, and fewer may take its place', async () => {
  const caller = await callerWith({ max_open_items: 5 });
  const jobId = await caller.draft(5);
  expect(await append(caller, jobId, 1, 5)).toMatchObject({ status: 200, json: { accepted: 0, duplicates: 5 } });
  expect((await append(caller, jobId, 5, 2)).json.error).toBe('quota_exceeded');
  const put = (count: number) =>
    caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, {
      body: itemsFrom(1, count)
        .items.map((item) => JSON.stringify(item))
        .join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
  expect((await put(6)).json.error).toBe('quota_exceeded');
  expect(await put(3)).toMatchObject({ status: 200, json: { total: 3 } });
  expect((await append(caller, jobId, 4, 2)).json).toMatchObject({ total: 5 });
});

test('a tenant above a cap that was lowered may still take away', async () => {
  const caller = await callerWith({ max_open_items: 10 });
  const [first, second] = [await caller.draft(5), await caller.draft(5)];
  await db.pool.query(
    `UPDATE tenants SET policy = '{"max_open_items": 2}' WHERE tenant_id = (SELECT tenant_id FROM api_keys WHERE prefix = $1)`,
    [caller.key.slice(0, 14)],
  );
  expect((await append(caller, first, 6, 1)).status).toBe(429);
  expect((await caller.call('DELETE', `/v1/batch-jobs/${second}`)).status).toBe(204);
  const smaller = await caller.call('PUT', `/v1/batch-jobs/${first}/manifest`, {
    body: JSON.stringify(chatItem('row_1')),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(smaller.status).toBe(200);
});

test('a sample and a job of copies count like any other', async () => {
  const caller = await callerWith({ max_open_items: 6 });
  const jobId = await caller.draft(4);
  const sampled = await caller.post(`/v1/batch-jobs/${jobId}/submit`, { sample: 3 });
  expect(sampled).toMatchObject({ status: 429, json: { error: 'quota_exceeded' } });
  expect((await caller.post(`/v1/batch-jobs/${jobId}/submit`, { sample: 2 })).status).toBe(202);
});

test('stored bytes are those of requests and of results, until their job is deleted', async () => {
  const caller = await callerWith({ max_stored_bytes: 1_000 });
  const jobId = await caller.submitted(1);
  const ended = await endWithResult(jobId, 'x'.repeat(900));
  const next = await caller.draft(0);
  expect(await measureResults(db.pool)).toBeGreaterThan(0);
  const refused = await append(caller, next, 1, 1);
  expect(refused).toMatchObject({ status: 429, json: { error: 'quota_exceeded' } });
  expect(refused.json.message).toContain(`may have 1000 bytes of requests and results stored. It has ${ended.bytes}`);
  await db.pool.query('UPDATE job_progress SET result_bytes = 0, last_seq = last_seq + 1');
  await measureResults(db.pool);
  expect((await append(caller, next, 1, 1)).status).toBe(429);
  expect((await caller.call('DELETE', `/v1/batch-jobs/${jobId}`)).status).toBe(204);
  expect((await append(caller, next, 1, 1)).status).toBe(200);
});

/** As if its one item had been answered so. */
async function endWithResult(jobId: string, body: string): Promise<{ bytes: number }> {
  const uuid = toUuid('job', jobId);
  const { rows } = await db.pool.query('SELECT bucket, item_bytes::int AS bytes FROM batch_jobs WHERE job_id = $1', [
    uuid,
  ]);
  await db.pool.query(
    `INSERT INTO item_results_${rows[0].bucket} (bucket, job_id, item_no, body) VALUES ($1, $2, 1, $3)`,
    [rows[0].bucket, uuid, body],
  );
  await db.pool.query('UPDATE job_progress SET last_seq = 1 WHERE job_id = $1', [uuid]);
  await db.pool.query("UPDATE batch_jobs SET state = 'completed', completed_at = now() WHERE job_id = $1", [uuid]);
  return { bytes: rows[0].bytes + body.length };
}
