import { afterAll, beforeEach, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { type ApiCaller, createTestApi, FakeJobWorkflows } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedJob, storedItems } from './failed-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const usual = new FakeJobWorkflows(db);
beforeEach(() => {
  api.workflows.submit = usual.submit;
});

const retry = (caller: ApiCaller, jobId: string, body: unknown = {}, headers: Record<string, string> = {}) =>
  caller.post(`/v1/batch-jobs/${jobId}/retry`, body, headers);

test('another model takes the place of the job’s and of the items’ own', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  const request = { messages: [{ role: 'user', content: 'hello' }], max_tokens: 20, model: 'openai/gpt-4o' };
  await caller.post(`/v1/batch-jobs/${jobId}/items`, { items: [{ custom_id: 'own', request }] });
  await caller.post(`/v1/batch-jobs/${jobId}/cancel`);
  const body = {
    model: 'anthropic/claude-haiku-4-5',
    submit: true,
    requests: { row_1: { ...request, model: undefined } },
  };
  const answer = await retry(caller, jobId, body);
  expect(answer).toMatchObject({ status: 201, json: { status: 'queued', model: 'anthropic/claude-haiku-4-5' } });
  const items = await storedItems(db, answer.json.job_id);
  expect(items.map((item) => [item.custom_id, item.requested_model])).toEqual([
    ['own', null],
    ['row_1', null],
  ]);
  const { rows } = await db.pool.query('SELECT resolved_provider FROM batch_jobs WHERE job_id = $1', [
    toUuid('job', answer.json.job_id),
  ]);
  expect(rows).toEqual([{ resolved_provider: 'anthropic' }]);
});

test('a model the key may not use refuses the submission and leaves the draft, which the refusal names', async () => {
  const tenantId = await api.tenant();
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await endedJob(db, caller, ['expired', null]);
  await db.pool.query("UPDATE api_keys SET allowed_models = '{openai/gpt-4o-mini}' WHERE tenant_id = $1", [tenantId]);
  const answer = await retry(caller, jobId, { model: 'openai/gpt-4o', submit: true });
  expect(answer).toMatchObject({ status: 403, json: { error: 'model_not_allowed' } });
  const [draftId] = (await caller.get(`/v1/batch-jobs/${jobId}`)).json.retry_jobs;
  expect(answer.json.message).toContain(draftId);
  expect((await caller.get(`/v1/batch-jobs/${draftId}`)).json).toMatchObject({
    status: 'draft',
    counts: { total: 1 },
    refusal: { error: 'model_not_allowed' },
  });
});

test('a model of another endpoint is refused at submit', async () => {
  const caller = await api.caller();
  const jobId = await endedJob(db, caller, ['expired']);
  const answer = await retry(caller, jobId, { model: 'openai/text-embedding-3-small', submit: true });
  expect(answer).toMatchObject({ status: 422, json: { error: 'endpoint_not_supported' } });
});

test('the wait for a verdict is as long as the caller prefers', async () => {
  const caller = await api.caller();
  const jobId = await endedJob(db, caller, ['expired']);
  const waits: number[] = [];
  api.workflows.submit = async (_, waitMs) => {
    waits.push(waitMs);
    return { kind: 'pending' };
  };
  const answer = await retry(caller, jobId, { submit: true }, { prefer: 'wait=3' });
  expect([answer.status, answer.json.status, waits]).toEqual([201, 'validating', [3_000]]);
});

test('where Temporal is away nothing was retried, and the call may be repeated with its key', async () => {
  const caller = await api.caller();
  const jobId = await endedJob(db, caller, ['expired']);
  const headers = { 'idempotency-key': 'once' };
  api.workflows.submit = async () => ({ kind: 'unreachable' });
  const away = await retry(caller, jobId, { submit: true }, headers);
  expect(away).toMatchObject({ status: 503, json: { error: 'dependency_unavailable' } });
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json.retry_jobs).toEqual([]);
  api.workflows.submit = usual.submit;
  const back = await retry(caller, jobId, { submit: true }, headers);
  expect(back).toMatchObject({ status: 201, json: { status: 'queued', counts: { total: 1 } } });
});

test('five thousand items are retried in one go', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(0);
  const item = (index: number) => ({
    custom_id: `row_${index}`,
    request: { messages: [{ role: 'user', content: `question ${index}` }], max_tokens: 20 },
  });
  const lines = Array.from({ length: 5_000 }, (_, index) => `${JSON.stringify(item(index + 1))}\n`).join('');
  await caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, {
    body: lines,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  await caller.post(`/v1/batch-jobs/${jobId}/cancel`);
  const answer = await retry(caller, jobId);
  expect(answer).toMatchObject({ status: 201, json: { counts: { total: 5_000 } } });
  const items = await storedItems(db, answer.json.job_id);
  expect(items.map((copy) => copy.custom_id)).toEqual(Array.from({ length: 5_000 }, (_, index) => `row_${index + 1}`));
  expect(items.every((copy) => copy.body.includes(`question ${copy.item_no}"`))).toBe(true);
  await caller.call('DELETE', `/v1/batch-jobs/${answer.json.job_id}`);
  expect((await retry(caller, jobId)).json).toMatchObject({ counts: { total: 5_000 } });
});
