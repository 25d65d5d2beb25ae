import { afterAll, beforeEach, expect, test } from 'vitest';
import { createJobActivities } from '../../../activities/job.ts';
import { testDependencies } from '../../harness/activities.ts';
import { chatItem, createTestApi, FakeJobWorkflows } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const usual = new FakeJobWorkflows(db);
beforeEach(() => {
  api.workflows.submit = usual.submit;
  usual.calls.length = 0;
});

test('an accepted submit holds the money and answers 202 with the job', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(3);
  const answer = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(answer.status).toBe(202);
  expect(answer.json).toMatchObject({ status: 'queued', counts: { total: 3, submitted: 3 }, refusal: null });
  const { estimated, reserved, held, settled } = answer.json.cost;
  expect(reserved).toBe(held);
  expect(settled).toBe('0.00');
  expect(Number(reserved)).toBeGreaterThan(Number(estimated));
  const ledger = await caller.get(`/v1/batch-jobs/${jobId}/ledger`);
  expect(ledger.json.data).toMatchObject([
    { event: 'batch.estimated', amount: estimated, currency: 'USD', item_id: null },
    { event: 'batch.reserved', amount: reserved },
  ]);
});

test('a job submitted before is answered with 200, also once it has ended', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  const again = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(again).toMatchObject({ status: 200, json: { job_id: jobId, status: 'queued' } });
  await db.pool.query("UPDATE batch_jobs SET state = 'completed' WHERE tenant_id = $1", [again.json.tenant_id]);
  expect(await caller.post(`/v1/batch-jobs/${jobId}/submit`)).toMatchObject({
    status: 200,
    json: { status: 'completed' },
  });
  expect(usual.calls.filter(([name]) => name === 'submit')).toHaveLength(1);
});

test('of submits at the same moment one submits and the others are told so', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  const answers = await Promise.all(Array.from({ length: 6 }, () => caller.post(`/v1/batch-jobs/${jobId}/submit`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 202]);
  expect(usual.calls).toHaveLength(1);
});

test('an empty draft is refused and stays a draft', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(0);
  const answer = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(answer).toMatchObject({ status: 422, json: { error: 'empty_job', field: 'items' } });
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json).toMatchObject({ status: 'draft', refusal: null });
});

test('a draft that was cancelled cannot be submitted', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  await caller.post(`/v1/batch-jobs/${jobId}/cancel`);
  expect(await caller.post(`/v1/batch-jobs/${jobId}/submit`)).toMatchObject({
    status: 409,
    json: { error: 'conflict' },
  });
});

test('a refusal is the answer, stays with the draft, and goes once the draft is mended', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  await caller.post(`/v1/batch-jobs/${jobId}/items`, { items: [chatItem('bad', { stream: true })] });
  const refused = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(refused.status).toBe(422);
  const { request_id, ...refusal } = refused.json;
  expect(request_id).toMatch(/^req_/);
  expect(refusal).toMatchObject({
    error: 'batch_capability_not_supported',
    field: 'items[*].request.stream',
    details: [{ index: 1, custom_id: 'bad', field: 'request.stream' }],
    details_count: 1,
  });
  const draft = await caller.get(`/v1/batch-jobs/${jobId}`);
  expect(draft.json).toMatchObject({ status: 'draft', refusal, submitted_at: null, counts: { submitted: 0 } });
  await caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, {
    body: `${JSON.stringify(chatItem('good'))}\n`,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const accepted = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(accepted).toMatchObject({ status: 202, json: { status: 'queued', refusal: null, counts: { total: 1 } } });
});

test.each([
  [undefined, 10_000],
  ['wait=0', 0],
  ['respond-async, wait=3', 3_000],
  ['wait=9999', 60_000],
  ['wait=soon', 10_000],
])('waits for the verdict as Prefer %s asks', async (prefer, waitMs) => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  await caller.post(`/v1/batch-jobs/${jobId}/submit`, undefined, prefer === undefined ? {} : { prefer });
  expect(usual.calls).toEqual([['submit', jobId, 1, waitMs]]);
});

test('a verdict that takes longer is answered as validating, and a refusal is found under the draft later', async () => {
  const caller = await api.caller('tenant_admin', { tenantId: await api.tenant('0.000000000001') });
  const jobId = await caller.draft(1);
  api.workflows.submit = async () => ({ kind: 'pending' });
  const answer = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(answer).toMatchObject({ status: 202, json: { status: 'validating', counts: { submitted: 1 } } });
  await createJobActivities(testDependencies(db)).admitJob({ jobId, submissionNo: 1 });
  const draft = await caller.get(`/v1/batch-jobs/${jobId}`);
  expect(draft.json).toMatchObject({ status: 'draft', refusal: { error: 'budget_exceeded' } });
});

test('when Temporal is away the submit is taken back and may be repeated with the same key', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  api.workflows.submit = async () => ({ kind: 'unreachable' });
  const headers = { 'idempotency-key': 'once' };
  const away = await caller.post(`/v1/batch-jobs/${jobId}/submit`, undefined, headers);
  expect(away).toMatchObject({ status: 503, json: { error: 'dependency_unavailable' } });
  expect(away.headers.get('retry-after')).toBe('5');
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json).toMatchObject({ status: 'draft', submitted_at: null });
  api.workflows.submit = usual.submit;
  expect(await caller.post(`/v1/batch-jobs/${jobId}/submit`, undefined, headers)).toMatchObject({ status: 202 });
});

test('two submits under one key, taken back by one of them, are both told that Temporal is away', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  const [isUnderWay, isRepeated] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  api.workflows.submit = async () => {
    calls += 1;
    if (calls === 1) {
      isUnderWay.resolve();
      await isRepeated.promise;
    } else {
      isRepeated.resolve();
      await eventually(async () => (await caller.get(`/v1/batch-jobs/${jobId}`)).json.status === 'draft');
    }
    return { kind: 'unreachable' };
  };
  const submit = () => caller.post(`/v1/batch-jobs/${jobId}/submit`, undefined, { 'idempotency-key': 'twice' });
  const first = submit();
  await isUnderWay.promise;
  const answers = await Promise.all([first, submit()]);
  expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  api.workflows.submit = usual.submit;
  expect(await submit()).toMatchObject({ status: 202, json: { status: 'queued' } });
});

test('a submit that was claimed after all is never called a failure', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  api.workflows.submit = async (job, waitMs) => {
    await usual.submit(job, waitMs);
    return { kind: 'unreachable' };
  };
  expect(await caller.post(`/v1/batch-jobs/${jobId}/submit`)).toMatchObject({
    status: 202,
    json: { status: 'queued' },
  });
});

test('a workflow that starts after its submission was taken back claims nothing', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  api.workflows.submit = async () => ({ kind: 'unreachable' });
  await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  const { admitJob } = createJobActivities(testDependencies(db));
  expect(await admitJob({ jobId, submissionNo: 1 })).toEqual({ verdict: 'stale' });
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json.status).toBe('draft');
});
