import { afterAll, expect, test } from 'vitest';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

const JOB = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' };

test('creates a draft and answers the whole public object', async () => {
  const tenantId = await api.tenant();
  const caller = await api.caller('tenant_admin', { tenantId });
  const created = await caller.post('/v1/batch-jobs', { ...JOB, name: 'nightly', metadata: { team: 'search' } });
  expect(created.status).toBe(201);
  expect(created.json).toEqual({
    job_id: expect.stringMatching(/^job_[0-9a-z]{26}$/),
    name: 'nightly',
    tenant_id: tenantId,
    project_id: null,
    customer_id: null,
    ...JOB,
    status: 'draft',
    waiting: null,
    counts: { total: 0, submitted: 0, completed: 0, failed: 0, expired: 0, cancelled: 0, retries: 0 },
    failures: {},
    progress: null,
    estimated_completion_at: null,
    cost: { estimated: null, reserved: '0.00', held: '0.00', settled: '0.00', currency: 'USD' },
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    submitted_at: null,
    completed_at: null,
    expires_at: null,
    retrieval_deadline: null,
    storage: 'raw',
    content_deleted_at: null,
    cancel: null,
    execution: { max_items_per_shard: null, region: null, providers: null, deadline: null, not_before: null },
    retry_policy: null,
    error: null,
    refusal: null,
    overage: null,
    sample: null,
    sample_jobs: [],
    retry_of_job_id: null,
    retry_jobs: [],
    warnings: [],
    unmatched_lines: 0,
    metadata: { team: 'search' },
  });
  const read = await caller.get(`/v1/batch-jobs/${created.json.job_id}`);
  expect(read.json).toEqual(created.json);
});

test('a retry policy is shown with what was left out', async () => {
  const caller = await api.caller('tenant_admin', { tenantId: await api.tenant() });
  const { json } = await caller.post('/v1/batch-jobs', { ...JOB, retry_policy: { max_attempts: 3 } });
  expect(json.retry_policy).toEqual({
    max_attempts: 3,
    classes: ['provider_error', 'rate_limited', 'missing_result', 'unparseable_result'],
    backoff: { initial_seconds: 60, factor: 2, max_seconds: 3_600 },
  });
});

test.each([
  ['an unknown field', { ...JOB, colour: 'red' }, 'colour', 'unknown field'],
  ['an unknown field inside', { ...JOB, execution: { pace: 1 } }, 'execution.pace', 'unknown field'],
  ['too many tries', { ...JOB, retry_policy: { max_attempts: 11 } }, 'retry_policy.max_attempts', 'must be at most 10'],
  [
    'a class that is retried by hand',
    { ...JOB, retry_policy: { classes: ['expired'] } },
    'retry_policy.classes[0]',
    'are retried by hand, in a new job',
  ],
  ['a webhook without a URL', { ...JOB, webhook: { url: 'x' } }, 'webhook.url', ''],
  [
    'a webhook for events of other things',
    { ...JOB, webhook: { url: 'https://x.example', event_types: ['budget.alert'] } },
    'webhook.event_types[0]',
    '',
  ],
  ['another storage', { ...JOB, storage: 'nothing' }, 'storage', 'expected one of'],
  ['a float for money', { ...JOB, max_cost: 2.5 }, 'max_cost', 'expected string'],
  ['negative money', { ...JOB, max_cost: '-1.00' }, 'max_cost', 'plain decimal string'],
  ['NUL in metadata', { ...JOB, metadata: { a: 'x\u0000' } }, 'metadata.a', 'without NUL'],
  ['a lone surrogate in a name', { ...JOB, name: 'x\ud800' }, 'name', 'well-formed'],
  ['a huge whole number', { ...JOB, request_defaults: { seed: 2 ** 60 } }, 'request_defaults.seed', '2^53'],
  ['no endpoint', { model: 'a/b' }, 'endpoint', ''],
  ['an unknown endpoint', { ...JOB, endpoint: 'images' }, 'endpoint', ''],
])('refuses %s by name', async (_, body, field, message) => {
  const caller = await api.caller();
  const answer = await caller.post('/v1/batch-jobs', body);
  expect(answer.status).toBe(400);
  expect(answer.json).toMatchObject({ error: 'invalid_request', field });
  expect(answer.json.message).toContain(message);
  expect(answer.json.details[0]).toMatchObject({ field, error: 'invalid_request' });
  expect(answer.json.details_count).toBeGreaterThan(0);
});

test('refuses more than sixteen pairs of metadata', async () => {
  const caller = await api.caller();
  const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`key${index}`, 'v']));
  const answer = await caller.post('/v1/batch-jobs', { ...JOB, metadata });
  expect(answer.json).toMatchObject({ error: 'invalid_request', field: 'metadata' });
});

test('takes a project or customer of the tenant only', async () => {
  const tenantId = await api.tenant();
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web')", [tenantId]);
  await db.pool.query(
    "INSERT INTO customers (tenant_id, customer_id, name, suspended_at) VALUES ($1, 'gone', 'Gone', now()), ($1, 'ours', 'Ours', NULL)",
    [tenantId],
  );
  const caller = await api.caller('tenant_admin', { tenantId });
  const good = await caller.post('/v1/batch-jobs', { ...JOB, project_id: 'web', customer_id: 'ours' });
  expect(good.json).toMatchObject({ project_id: 'web', customer_id: 'ours' });
  const unknown = await caller.post('/v1/batch-jobs', { ...JOB, project_id: 'other' });
  expect(unknown).toMatchObject({ status: 404, json: { error: 'not_found', field: 'project_id' } });
  const suspended = await caller.post('/v1/batch-jobs', { ...JOB, customer_id: 'gone' });
  expect(suspended).toMatchObject({ status: 403, json: { error: 'tenant_suspended' } });
  const bound = await api.caller('customer', { tenantId, customerId: 'ours' });
  expect((await bound.post('/v1/batch-jobs', JOB)).json.customer_id).toBe('ours');
  expect(await bound.post('/v1/batch-jobs', { ...JOB, customer_id: 'gone' })).toMatchObject({ status: 404 });
});

test('lists the newest first, page by page, and nobody else’s', async () => {
  const caller = await api.caller();
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) ids.unshift(await caller.draft(0));
  await (await api.caller()).draft(0);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await caller.get(`/v1/batch-jobs?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(page.status).toBe(200);
    seen.push(...page.json.data.map((job: { job_id: string }) => job.job_id));
    cursor = page.json.next_cursor;
  }
  expect(seen).toEqual(ids);
});

test('filters a list by each column, by time and by metadata', async () => {
  const caller = await api.caller();
  const wanted = await caller.draft(0, { model: 'openai/gpt-4o', metadata: { team: 'a', run: '7' } });
  await caller.draft(0, { metadata: { team: 'a' } });
  const created = (await caller.get(`/v1/batch-jobs/${wanted}`)).json.created_at;
  const count = async (query: string) => (await caller.get(`/v1/batch-jobs?${query}`)).json.data.length;
  expect(await count('metadata[team]=a')).toBe(2);
  expect(await count('metadata[team]=a&metadata[run]=7')).toBe(1);
  expect(await count('model=openai/gpt-4o')).toBe(1);
  expect(await count('status=draft')).toBe(2);
  expect(await count('status=running')).toBe(0);
  expect(await count('customer_id=x')).toBe(0);
  expect(await count(`created_before=${encodeURIComponent(created)}`)).toBe(0);
  expect(await count(`created_after=${encodeURIComponent(created)}`)).toBe(2);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=x', 'limit'],
  ['limit=5&limit=6', 'limit'],
  ['status=odd', 'status'],
  ['colour=red', 'colour'],
  ['created_after=yesterday', 'created_after'],
  ['customer_id=%00', 'customer_id'],
  ['metadata[a]=%00', 'metadata[a]'],
])('refuses the query %s by name', async (query, field) => {
  const caller = await api.caller();
  const answer = await caller.get(`/v1/batch-jobs?${query}`);
  expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request', field } });
});

test.each([
  '/v1/batch-jobs?cursor=zzz',
  `/v1/batch-jobs?cursor=${Buffer.from('["results",1]').toString('base64url')}`,
  `/v1/batch-jobs?cursor=${Buffer.from('["jobs",1,"x"]').toString('base64url')}`,
  `/v1/batch-jobs?cursor=${Buffer.from('["jobs",1e300,"0190b3e8-0000-7000-8000-000000000000"]').toString('base64url')}`,
  '/v1/usage?cursor=zzz',
  '/v1/usage?since=zzz',
])('refuses a cursor it did not give out: %s', async (path) => {
  const caller = await api.caller();
  expect(await caller.get(path)).toMatchObject({ status: 400, json: { error: 'invalid_cursor' } });
});

test('a draft vanishes when it is deleted', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(3);
  expect((await caller.call('DELETE', `/v1/batch-jobs/${jobId}`)).status).toBe(204);
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).status).toBe(404);
  expect((await caller.call('DELETE', `/v1/batch-jobs/${jobId}`)).status).toBe(404);
});

test('a running job is not deleted', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  expect(await caller.call('DELETE', `/v1/batch-jobs/${jobId}`)).toMatchObject({
    status: 409,
    json: { error: 'job_not_finished' },
  });
});

test('validates a draft as a submit would, and changes nothing', async () => {
  const caller = await api.caller('tenant_admin', { tenantId: await api.tenant('0.000000000001') });
  const empty = await caller.draft(0);
  const nothing = await caller.post(`/v1/batch-jobs/${empty}/validate`);
  expect(nothing.json).toMatchObject({ ok: false, findings: [{ error: 'empty_job', field: 'items' }] });
  const jobId = await caller.draft(2);
  const before = await caller.get(`/v1/batch-jobs/${jobId}`);
  const dry = await caller.post(`/v1/batch-jobs/${jobId}/validate`);
  expect(dry.json).toMatchObject({
    ok: false,
    findings: [{ error: 'budget_exceeded', field: 'budget' }],
    target: { provider: 'openai', model: 'gpt-4o-mini' },
    rejected_targets: [],
    estimate: { items: 2, currency: 'USD' },
    budgets: [{ scope: 'tenant', fits: false }],
  });
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json).toEqual(before.json);
  const real = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  const { error, message, field } = dry.json.findings[0];
  expect(real).toMatchObject({ status: 402, json: { error, message, field } });
});

test('tells how an estimate was made, before and after the submit', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(2);
  const before = await caller.get(`/v1/batch-jobs/${jobId}/quote`);
  expect(before.json).toMatchObject({ job_id: jobId, basis: 'draft', quote: { items: 2, margin: '0.10' } });
  await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  const after = await caller.get(`/v1/batch-jobs/${jobId}/quote`);
  expect(after.json).toEqual({ ...before.json, basis: 'submission' });
});
