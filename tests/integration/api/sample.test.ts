import { afterAll, beforeEach, expect, test } from 'vitest';
import { createJobActivities } from '../../../activities/job.ts';
import { toUuid } from '../../../db/ids.ts';
import { testDependencies } from '../../harness/activities.ts';
import { type ApiCaller, chatItem, createTestApi, FakeJobWorkflows } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const usual = new FakeJobWorkflows(db);
beforeEach(() => {
  api.workflows.submit = usual.submit;
});

const jobPath = (jobId: string) => `/v1/batch-jobs/${jobId}`;
const sample = (caller: ApiCaller, jobId: string, items: unknown, headers: Record<string, string> = {}) =>
  caller.post(`${jobPath(jobId)}/submit`, { sample: items }, headers);

async function storedItems(jobId: string) {
  const { rows } = await db.pool.query(
    `SELECT i.item_no, i.custom_id, i.idempotency_key, encode(i.request_hash, 'hex') AS hash, i.features, i.estimated_tokens, r.body
     FROM batch_items i JOIN item_requests r USING (bucket, job_id, item_no) WHERE i.job_id = $1 ORDER BY i.item_no`,
    [toUuid('job', jobId)],
  );
  return rows;
}

async function groupsOf(jobId: string) {
  const { rows } = await db.pool.query(
    'SELECT * FROM job_item_groups WHERE job_id = $1 AND manifest_no = (SELECT manifest_no FROM batch_jobs WHERE job_id = $1)',
    [toUuid('job', jobId)],
  );
  return rows.map(({ job_id, manifest_no, ...group }) => group);
}

test('a sample is a job of its own with the settings and every k-th item of the draft, which stays one', async () => {
  const caller = await api.caller();
  const settings = { name: 'reviews', metadata: { team: 'a' }, max_cost: '5.00', request_defaults: { temperature: 0 } };
  const draftId = await caller.draft(10, settings);
  const answer = await sample(caller, draftId, 3);
  expect(answer.status).toBe(202);
  const sampleId: string = answer.json.job_id;
  expect(sampleId).not.toBe(draftId);
  const { name, metadata } = settings;
  expect(answer.json).toMatchObject({ status: 'queued', counts: { total: 3, submitted: 3 }, name, metadata });
  expect(answer.json.sample).toEqual({ of_job_id: draftId, items: 3, of_items: 10, extrapolated_cost: null });
  expect(answer.json.cost.reserved).toBe(answer.json.cost.held);
  expect(Number(answer.json.cost.held)).toBeGreaterThan(0);
  const of = await storedItems(draftId);
  expect(await storedItems(sampleId)).toEqual([0, 3, 6].map((at, index) => ({ ...of[at], item_no: index + 1 })));
  const draft = await caller.get(jobPath(draftId));
  expect(draft.json).toMatchObject({ status: 'draft', sample: null, sample_jobs: [sampleId], counts: { total: 10 } });
  expect((await caller.post(`${jobPath(draftId)}/submit`)).json).toMatchObject({ status: 'queued', job_id: draftId });
});

test('a sample of all items is estimated as they are, whatever their kinds and however the manifest came to be', async () => {
  const caller = await api.caller();
  const draftId = await caller.draft(2);
  const uncapped = { messages: [{ role: 'user', content: 'hello' }], max_tokens: null };
  const lines = [
    chatItem('capped'),
    { custom_id: 'uncapped', request: uncapped, idempotency_key: 'k' },
    { custom_id: 'three', request: { ...uncapped, n: 3, temperature: 0.5 } },
    chatItem('long', { messages: [{ role: 'user', content: 'word '.repeat(300) }] }),
    chatItem('other', { model: 'openai/gpt-4o' }),
  ];
  await caller.call('PUT', `${jobPath(draftId)}/manifest`, {
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const quoted = (await caller.get(`${jobPath(draftId)}/quote`)).json.quote.reserved;
  const answer = await sample(caller, draftId, 1_000);
  expect(answer.json).toMatchObject({ counts: { total: 5 }, cost: { reserved: quoted } });
  const sorted = (groups: object[]) => groups.map((group) => JSON.stringify(group)).sort();
  expect(sorted(await groupsOf(answer.json.job_id))).toEqual(sorted(await groupsOf(draftId)));
});

test('what the whole would cost is extrapolated from what ran', async () => {
  const caller = await api.caller();
  const draftId = await caller.draft(10);
  const { job_id: sampleId } = (await sample(caller, draftId, 4)).json;
  await db.pool.query(
    'UPDATE job_progress SET completed = 2, failed = 1, expired = 1, settled_amount = 0.000000000004 WHERE job_id = $1',
    [toUuid('job', sampleId)],
  );
  // 4 × 10 ÷ 3 units of 10⁻¹², to the nearest.
  expect((await caller.get(jobPath(sampleId))).json.sample.extrapolated_cost).toBe('0.000000000013');
});

test('a repeated key makes no second sample, another call does', async () => {
  const caller = await api.caller();
  const draftId = await caller.draft(3);
  const headers = { 'idempotency-key': 'once' };
  const answers = await Promise.all([1, 2, 3].map(() => sample(caller, draftId, 1, headers)));
  const made = new Set(answers.map(({ json }) => json.job_id));
  expect([answers.map(({ status }) => status), made.size]).toEqual([[202, 202, 202], 1]);
  expect((await sample(caller, draftId, 2, headers)).status).toBe(409);
  const another = await sample(caller, draftId, 1);
  const { sample_jobs } = (await caller.get(jobPath(draftId))).json;
  expect(sample_jobs).toEqual([another.json.job_id, ...made]);
});

test('a refused sample is answered with the refusal and leaves nothing behind, so that its key may be used again', async () => {
  const tenantId = await api.tenant('0.000000000001');
  const caller = await api.caller('tenant_admin', { tenantId });
  const draftId = await caller.draft(3);
  const headers = { 'idempotency-key': 'again' };
  expect(await sample(caller, draftId, 1, headers)).toMatchObject({ status: 402, json: { error: 'budget_exceeded' } });
  expect((await caller.get('/v1/batch-jobs')).json.data).toMatchObject([{ job_id: draftId, sample_jobs: [] }]);
  await db.pool.query('UPDATE budgets SET limit_amount = 1 WHERE tenant_id = $1', [tenantId]);
  expect(await sample(caller, draftId, 1, headers)).toMatchObject({ status: 202, json: { status: 'queued' } });
});

test('of repeated calls at once that are refused each is told the refusal', async () => {
  const caller = await api.caller('tenant_admin', { tenantId: await api.tenant('0.000000000001') });
  const draftId = await caller.draft(3);
  const headers = { 'idempotency-key': 'same' };
  const answers = await Promise.all(Array.from({ length: 4 }, () => sample(caller, draftId, 1, headers)));
  expect(answers.map(({ json }) => json.error)).toEqual(Array(4).fill('budget_exceeded'));
  expect((await caller.get('/v1/batch-jobs')).json.data).toMatchObject([{ job_id: draftId }]);
});

test('where Temporal is away nothing is left either', async () => {
  const caller = await api.caller();
  const draftId = await caller.draft(1);
  api.workflows.submit = async () => ({ kind: 'unreachable' });
  expect(await sample(caller, draftId, 1)).toMatchObject({ status: 503, json: { error: 'dependency_unavailable' } });
  expect((await caller.get('/v1/batch-jobs')).json.data).toMatchObject([{ job_id: draftId }]);
});

test('a sample refused after the wait is a draft with its refusal', async () => {
  const caller = await api.caller('tenant_admin', { tenantId: await api.tenant('0.000000000001') });
  const draftId = await caller.draft(1);
  api.workflows.submit = async () => ({ kind: 'pending' });
  const { job_id: jobId, status } = (await sample(caller, draftId, 1)).json;
  expect(status).toBe('validating');
  await createJobActivities(testDependencies(db)).admitJob({ jobId, submissionNo: 1 });
  const late = await caller.get(jobPath(jobId));
  expect(late.json).toMatchObject({ status: 'draft', refusal: { error: 'budget_exceeded' }, sample: { items: 1 } });
});

test.each([[0], [1_001], [1.5], ['3'], [null]])('%j is no size of a sample', async (items) => {
  const caller = await api.caller();
  const answer = await sample(caller, await caller.draft(1), items);
  expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request', field: 'sample' } });
});

test('only a draft with items can be sampled, and only by those who may see it', async () => {
  const caller = await api.caller();
  expect(await sample(caller, await caller.draft(0), 1)).toMatchObject({ status: 422, json: { error: 'empty_job' } });
  const submitted = await caller.submitted(1);
  expect(await sample(caller, submitted, 1)).toMatchObject({ status: 409, json: { error: 'job_not_draft' } });
  const foreign = await (await api.caller()).draft(1);
  expect(await sample(caller, foreign, 1)).toMatchObject({ status: 404, json: { error: 'not_found' } });
});

test('the item behind a custom id is found in both jobs', async () => {
  const caller = await api.caller();
  const draftId = await caller.draft(4);
  const { job_id: sampleId } = (await sample(caller, draftId, 2)).json;
  const items = await Promise.all(
    [draftId, sampleId].map((jobId) => caller.get(`${jobPath(jobId)}/items?custom_id=row_3`)),
  );
  const [one, other] = items.map(({ json }) => json);
  expect(one.request_hash).toBe(other.request_hash);
  expect(one.item_id).not.toBe(other.item_id);
});
