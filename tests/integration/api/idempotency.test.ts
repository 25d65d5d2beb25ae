import { afterAll, expect, test } from 'vitest';
import { type ApiCaller, chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

const JOB = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' };

async function countJobs(caller: ApiCaller): Promise<number> {
  return (await caller.get('/v1/batch-jobs')).json.data.length;
}

test('create_job twice with one key and body makes one job and answers the same bytes', async () => {
  const caller = await api.caller();
  const headers = { 'idempotency-key': 'a' };
  const first = await caller.post('/v1/batch-jobs', JOB, headers);
  const second = await caller.post('/v1/batch-jobs', JOB, headers);
  expect(second.status).toBe(201);
  expect(second.text).toBe(first.text);
  expect(first.headers.get('idempotency-replayed')).toBeNull();
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await countJobs(caller)).toBe(1);
});

test('the same key with another body is refused', async () => {
  const caller = await api.caller();
  const headers = { 'idempotency-key': 'b' };
  await caller.post('/v1/batch-jobs', JOB, headers);
  const other = await caller.post('/v1/batch-jobs', { ...JOB, name: 'other' }, headers);
  expect(other).toMatchObject({ status: 409, json: { error: 'idempotency_conflict' } });
});

test('concurrent calls with one key make one job', async () => {
  const caller = await api.caller();
  const headers = { 'idempotency-key': 'c' };
  const answers = await Promise.all(Array.from({ length: 6 }, () => caller.post('/v1/batch-jobs', JOB, headers)));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.every(({ status }) => status === 201)).toBe(true);
  expect(await countJobs(caller)).toBe(1);
});

test('keys of two customers of one tenant never meet', async () => {
  const tenantId = await api.tenant();
  await db.pool.query(
    "INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'one', 'One'), ($1, 'two', 'Two')",
    [tenantId],
  );
  const headers = { 'idempotency-key': 'd' };
  const one = await api.caller('customer', { tenantId, customerId: 'one' });
  const two = await api.caller('customer', { tenantId, customerId: 'two' });
  const first = await one.post('/v1/batch-jobs', JOB, headers);
  const second = await two.post('/v1/batch-jobs', { ...JOB, name: 'x' }, headers);
  expect(second.status).toBe(201);
  expect(second.json.job_id).not.toBe(first.json.job_id);
});

test('concurrent submits with one key make one hold and get the same verdict', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(2);
  const headers = { 'idempotency-key': 'e' };
  const submit = () => caller.post(`/v1/batch-jobs/${jobId}/submit`, undefined, headers);
  const answers = await Promise.all([submit(), submit(), submit(), submit()]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  expect(answers.filter(({ headers: told }) => told.get('idempotency-replayed') === null)).toHaveLength(1);
  expect((await submit()).status).toBe(202);
  const budgets = await caller.get('/v1/budgets');
  const job = await caller.get(`/v1/batch-jobs/${jobId}`);
  expect(budgets.json.data[0].held).toBe(job.json.cost.reserved);
});

test('a refused submit repeated with its key gets the refusal again, though the draft was mended since', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1, { model: 'openai/no-such-model' });
  const headers = { 'idempotency-key': 'f' };
  const first = await caller.post(`/v1/batch-jobs/${jobId}/submit`, undefined, headers);
  const second = await caller.post(`/v1/batch-jobs/${jobId}/submit`, undefined, headers);
  expect(first.status).toBe(422);
  expect(second).toMatchObject({ status: 422, json: { error: first.json.error, message: first.json.message } });
  const { rows } = await db.pool.query(
    'SELECT FROM job_submissions s JOIN batch_jobs j USING (job_id) WHERE j.tenant_id = $1',
    [(await caller.get(`/v1/batch-jobs/${jobId}`)).json.tenant_id],
  );
  expect(rows).toHaveLength(1);
});

test('append_items with one key stores once; other content under it is refused', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(0);
  const path = `/v1/batch-jobs/${jobId}/items`;
  const headers = { 'idempotency-key': 'g', 'content-type': 'application/x-ndjson' };
  const append = (customId: string) =>
    caller.call('POST', path, { body: `${JSON.stringify(chatItem(customId))}\n`, headers });
  const answers = await Promise.all([append('x'), append('x'), append('x')]);
  for (const answer of answers)
    expect(answer).toMatchObject({ status: 200, json: { accepted: 1, duplicates: 0, total: 1 } });
  expect(await append('y')).toMatchObject({ status: 409, json: { error: 'idempotency_conflict' } });
});

test.each(['with space', 'x'.repeat(256), 'ümlaut'])('refuses the key %s', async (key) => {
  const caller = await api.caller();
  const answer = await caller.post('/v1/batch-jobs', JOB, { 'idempotency-key': key });
  expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request', field: 'idempotency-key' } });
});
