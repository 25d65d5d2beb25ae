import { afterAll, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { ReplyProvider } from '../../harness/reply-provider.ts';
import { settleItems } from '../../harness/settled-items.ts';
import { endJob } from './ended-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

const JOB = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' };

async function tenantWith(policy: Record<string, unknown>) {
  const tenantId = await api.tenant();
  await setPolicy(tenantId, policy);
  return { tenantId, caller: await api.caller('tenant_admin', { tenantId }) };
}

async function setPolicy(tenantId: string, policy: Record<string, unknown>): Promise<void> {
  await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, JSON.stringify(policy)]);
}

const termsOf = async (jobId: string) => (await getJobRow(db.pool, jobId)).terms;

test('a job is made under its tenant’s policy of that time', async () => {
  const { tenantId, caller } = await tenantWith({
    storage: 'normalized',
    read_window_ms: 1_000,
    content_retention_ms: 2_000,
    delete_provider_files: true,
  });
  const { json } = await caller.post('/v1/batch-jobs', JOB);
  expect(json.storage).toBe('normalized');
  await setPolicy(tenantId, { storage: 'raw' });
  expect(await termsOf(json.job_id)).toEqual({
    storage: 'normalized',
    readWindowMs: 1_000,
    contentRetentionMs: 2_000,
    deletesProviderFiles: true,
  });
});

test('a job may be stricter than its tenant, never looser', async () => {
  const { caller } = await tenantWith({ storage: 'pointers' });
  for (const storage of ['raw', 'normalized']) {
    const { status, json } = await caller.post('/v1/batch-jobs', { ...JOB, storage });
    expect(status).toBe(422);
    expect(json).toMatchObject({ error: 'storage_policy_looser', field: 'storage' });
    expect(json.message).toContain('pointers, hashes');
  }
  for (const storage of ['pointers', 'hashes']) {
    const { status, json } = await caller.post('/v1/batch-jobs', { ...JOB, storage });
    expect([status, json.storage]).toEqual([201, storage]);
  }
});

test('a recurring job may not be made looser either', async () => {
  const { caller } = await tenantWith({ storage: 'hashes' });
  const schedule = { every_seconds: 3_600 };
  const answer = await caller.post('/v1/batch-schedules', {
    name: 'nightly',
    schedule,
    job: { ...JOB, storage: 'raw' },
    items: { items_url: 'https://example.com/items.ndjson' },
  });
  expect(answer).toMatchObject({ status: 422, json: { error: 'storage_policy_looser', field: 'job.storage' } });
});

test('a draft is submitted under what its tenant’s policy says by then, where that is stricter', async () => {
  const { tenantId, caller } = await tenantWith({ storage: 'raw', content_retention_ms: null });
  const [jobId, strict] = [await caller.draft(2), await caller.draft(2, { storage: 'hashes' })];
  await setPolicy(tenantId, { storage: 'pointers', read_window_ms: 5_000, content_retention_ms: 6_000 });
  for (const id of [jobId, strict]) expect((await caller.post(`/v1/batch-jobs/${id}/submit`)).status).toBe(202);
  const changed = { readWindowMs: 5_000, contentRetentionMs: 6_000, deletesProviderFiles: false };
  expect(await termsOf(jobId)).toEqual({ storage: 'pointers', ...changed });
  expect(await termsOf(strict)).toEqual({ storage: 'hashes', ...changed });
  await setPolicy(tenantId, { storage: 'raw' });
  const later = await caller.submitted(1);
  expect((await termsOf(later)).storage).toBe('raw');
  expect((await termsOf(jobId)).storage).toBe('pointers');
});

test('a sample keeps as little as its draft', async () => {
  const { caller } = await tenantWith({});
  const draft = await caller.draft(3, { storage: 'hashes' });
  const { json } = await caller.post(`/v1/batch-jobs/${draft}/submit`, { sample: 1 });
  expect(json).toMatchObject({ storage: 'hashes', sample: { of_job_id: draft } });
});

test('a retry keeps as little as its job, and brings the requests that are not stored', async () => {
  const job = await endJob(db, new ReplyProvider(), 'pointers', { items: 4, failing: [2, 3] });
  const caller = await api.caller('tenant_admin', { tenantId: job.tenantId });
  const path = `/v1/batch-jobs/${job.jobId}/retry`;
  const request = { messages: [{ role: 'user', content: 'once more' }], max_tokens: 10 };
  const bare = await caller.post(path, {});
  expect(bare).toMatchObject({ status: 409, json: { error: 'request_not_stored', field: 'requests' } });
  const partly = await caller.post(path, { requests: { row_2: request } });
  expect(partly).toMatchObject({ status: 409, json: { error: 'request_not_stored' } });
  const retried = await caller.post(path, { requests: { row_2: request }, custom_ids: ['row_2'] });
  expect(retried).toMatchObject({ status: 201, json: { storage: 'pointers', counts: { total: 1 } } });
  const rest = await caller.post(path, { requests: { row_3: request } });
  expect(rest).toMatchObject({ status: 201, json: { counts: { total: 1 } } });
});

test('a retry of a job that keeps its requests goes on as before', async () => {
  const { caller } = await tenantWith({ storage: 'normalized' });
  const jobId = await caller.submitted(1);
  const failure = { class: 'provider_error', code: 'provider_server_error', message: 'x' };
  await settleItems(db, jobId, [{ itemNo: 1, state: 'failed', body: null, failure }]);
  await db.pool.query("UPDATE batch_shards SET state = 'settled'");
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query("UPDATE batch_jobs SET state = 'failed', completed_at = now() WHERE job_id = $1", [key.uuid]);
  const retried = await caller.post(`/v1/batch-jobs/${jobId}/retry`, {});
  expect(retried).toMatchObject({ status: 201, json: { storage: 'normalized', counts: { total: 1 } } });
});

test('a draft that is cancelled loses requests that are not to be kept, and cannot be copied', async () => {
  const { caller } = await tenantWith({ storage: 'hashes' });
  const jobId = await caller.draft(3, { request_defaults: { user: 'someone' } });
  expect((await caller.post(`/v1/batch-jobs/${jobId}/cancel`)).status).toBe(200);
  const { key, requestDefaults } = await getJobRow(db.pool, jobId);
  expect(requestDefaults).toBeNull();
  expect((await db.pool.query('SELECT 1 FROM item_requests WHERE job_id = $1', [key.uuid])).rowCount).toBe(0);
  const copied = await caller.post('/v1/batch-schedules', {
    name: 'again',
    schedule: { every_seconds: 3_600 },
    job: JOB,
    items: { manifest_of_job: jobId },
  });
  expect(copied).toMatchObject({ status: 410, json: { error: 'content_deleted' } });
});

test('how long results can be had is told by who keeps them', async () => {
  const { caller } = await tenantWith({ content_retention_ms: 3_600_000 });
  const jobId = await caller.submitted(1);
  const { key } = await getJobRow(db.pool, jobId);
  const shown = async () => (await caller.get(`/v1/batch-jobs/${jobId}`)).json;
  expect((await shown()).retrieval_deadline).toBeNull();
  await db.pool.query("UPDATE batch_jobs SET retrieval_deadline = '2030-01-01T00:00:00Z' WHERE job_id = $1", [
    key.uuid,
  ]);
  const open = await shown();
  expect(Date.parse(open.retrieval_deadline) - Date.parse(open.submitted_at)).toBe(3_600_000);
  await db.pool.query(
    "UPDATE batch_jobs SET state = 'completed', completed_at = '2026-12-24T00:00:00Z' WHERE job_id = $1",
    [key.uuid],
  );
  expect((await shown()).retrieval_deadline).toBe('2026-12-24T01:00:00.000Z');
  await db.pool.query("UPDATE batch_jobs SET storage = 'pointers' WHERE job_id = $1", [key.uuid]);
  expect((await shown()).retrieval_deadline).toBe('2030-01-01T00:00:00.000Z');
});
