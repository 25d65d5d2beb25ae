import { afterAll, beforeEach, expect, test } from 'vitest';
import { createJobActivities } from '../../../activities/job.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { testDependencies } from '../../harness/activities.ts';
import { chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
beforeEach(() => {
  api.workflows.calls.length = 0;
});

test('a draft is cancelled at once, and stays so', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(2);
  const answer = await caller.post(`/v1/batch-jobs/${jobId}/cancel`, { reason: 'not needed' });
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({
    status: 'cancelled',
    counts: { total: 2, submitted: 0, completed: 0, failed: 0, expired: 0, cancelled: 2 },
    failures: { cancelled: 2 },
    cancel: { reason: 'not needed', outcome: 'effective', by: expect.stringMatching(/^key_/) },
  });
  expect(answer.json.completed_at).not.toBeNull();
  const again = await caller.post(`/v1/batch-jobs/${jobId}/cancel`, { reason: 'other' });
  expect(again).toMatchObject({ status: 200, json: answer.json });
  expect(api.workflows.calls).toEqual([]);
});

test('an open job is asked to cancel, its workflow woken, and the first reason stays', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  api.workflows.calls.length = 0;
  const first = await caller.post(`/v1/batch-jobs/${jobId}/cancel`, { reason: 'too dear' });
  expect(first).toMatchObject({
    status: 202,
    json: { status: 'cancel_requested', cancel: { reason: 'too dear', outcome: null } },
  });
  expect(api.workflows.calls).toEqual([['cancel', jobId, { by: first.json.cancel.by, reason: 'too dear' }]]);
  const second = await caller.post(`/v1/batch-jobs/${jobId}/cancel`, { reason: 'changed my mind' });
  expect(second).toMatchObject({ status: 202, json: { cancel: { reason: 'too dear' } } });
  const ledger = await caller.get(`/v1/batch-jobs/${jobId}/ledger`);
  const cancels = ledger.json.data.filter(({ event }: { event: string }) => event === 'batch.cancel_requested');
  expect(cancels).toMatchObject([{ amount: '0.00', ordinal: 1, actor: first.json.cancel.by }]);
});

test.each(['not_running', 'unreachable'] as const)(
  'a workflow that is %s does not fail the cancel',
  async (outcome) => {
    const caller = await api.caller();
    const jobId = await caller.submitted(1);
    const { signalCancel } = api.workflows;
    api.workflows.signalCancel = async () => outcome;
    expect(await caller.post(`/v1/batch-jobs/${jobId}/cancel`)).toMatchObject({ status: 202 });
    api.workflows.signalCancel = signalCancel;
  },
);

test('a job cancelled before its verdict ends without a hold', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(1);
  const { submit } = api.workflows;
  api.workflows.submit = async () => ({ kind: 'pending' });
  await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  api.workflows.submit = submit;
  expect((await caller.post(`/v1/batch-jobs/${jobId}/cancel`)).status).toBe(202);
  const { verdict } = await createJobActivities(testDependencies(db)).admitJob({ jobId, submissionNo: 1 });
  expect(verdict).toBe('cancelled');
  const job = await caller.get(`/v1/batch-jobs/${jobId}`);
  expect(job.json).toMatchObject({
    ...{ status: 'cancelled', counts: { total: 1, submitted: 1, cancelled: 1 }, failures: { cancelled: 1 } },
    cost: { held: '0.00', reserved: '0.00', settled: '0.00' },
  });
});

test.each(['before it was submitted', 'before its verdict', 'after a manifest was replaced'])(
  'items of a job cancelled %s show it, one by one, in pages and as a stream',
  async (when) => {
    const caller = await api.caller();
    const jobId = await caller.draft(3);
    if (when === 'before its verdict') {
      const { submit } = api.workflows;
      api.workflows.submit = async () => ({ kind: 'pending' });
      await caller.post(`/v1/batch-jobs/${jobId}/submit`);
      api.workflows.submit = submit;
    } else if (when === 'after a manifest was replaced') {
      const lines = [1, 2, 3].map((no) => JSON.stringify(chatItem(`row_${no}`)));
      const headers = { 'content-type': 'application/x-ndjson' };
      await caller.call('PUT', `/v1/batch-jobs/${jobId}/manifest`, { body: `${lines.join('\n')}\n`, headers });
    }
    await caller.post(`/v1/batch-jobs/${jobId}/cancel`);
    await createJobActivities(testDependencies(db)).admitJob({ jobId, submissionNo: 1 });
    const job = await caller.get(`/v1/batch-jobs/${jobId}`);
    expect(job.json).toMatchObject({ status: 'cancelled', counts: { total: 3, cancelled: 3 } });
    const error = { class: 'cancelled', code: 'job_cancelled', message: expect.stringContaining('cancelled') };
    const ended = { status: 'cancelled', result: null, error, cost: '0.00', model: null, attempts: 0 };
    const item = await caller.get(`/v1/batch-jobs/${jobId}/items/row_2`);
    expect(item.json).toMatchObject({ custom_id: 'row_2', ...ended, settled_at: job.json.completed_at });
    expect((await caller.get(`/v1/batch-jobs/${jobId}/items/row_9`)).status).toBe(404);
    const first = await caller.get(`/v1/batch-jobs/${jobId}/results?limit=2`);
    expect(first.json.data).toMatchObject([
      { custom_id: 'row_1', ...ended },
      { custom_id: 'row_2', ...ended },
    ]);
    const rest = await caller.get(`/v1/batch-jobs/${jobId}/results?limit=2&cursor=${first.json.next_cursor}`);
    expect(rest.json).toMatchObject({ data: [{ custom_id: 'row_3' }], next_cursor: null });
    expect((await caller.get(`/v1/batch-jobs/${jobId}/results?status=completed`)).json.data).toEqual([]);
    const stream = await caller.get(`/v1/batch-jobs/${jobId}/results`, { accept: 'application/x-ndjson' });
    expect(stream.text.trim().split('\n')).toHaveLength(3);
    const { json: budgets } = await caller.get(`/v1/batch-jobs/${jobId}/ledger`);
    expect(budgets.data.every(({ amount }: { amount: string }) => amount === '0.00')).toBe(true);
  },
);

test('cancels at the same moment are one: one event, one entry, one reason', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  const answers = await Promise.all(
    [1, 2, 3, 4, 5].map((no) => caller.post(`/v1/batch-jobs/${jobId}/cancel`, { reason: `reason ${no}` })),
  );
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
  expect(new Set(answers.map(({ json }) => json.cancel.reason)).size).toBe(1);
  // By Temporal's roads, as the workflow records them, and by whoever comes later.
  const { recordCancel } = createJobActivities(testDependencies(db));
  await Promise.all([
    recordCancel({ jobId, by: 'temporal', reason: null }),
    recordCancel({ jobId, by: 'ops', reason: null }),
  ]);
  const { key } = await getJobRow(db.pool, jobId);
  const { rows } = await db.pool.query(
    `SELECT (SELECT count(*)::int FROM events WHERE job_id = $1 AND type = 'batch_job.cancel_requested') AS events,
       (SELECT count(*)::int FROM ledger_entries WHERE subject_id = $1 AND event = 'batch.cancel_requested') AS entries`,
    [key.uuid],
  );
  expect(rows).toEqual([{ events: 1, entries: 1 }]);
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json.cancel).toMatchObject(answers[0]?.json.cancel);
});

test('the money of an accepted job stays held until what ran is known', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  const { json } = await caller.post(`/v1/batch-jobs/${jobId}/cancel`);
  expect(json).toMatchObject({ status: 'cancel_requested', completed_at: null, counts: { cancelled: 0 } });
  expect(json.cost.held).toBe(json.cost.reserved);
  expect(Number(json.cost.held)).toBeGreaterThan(0);
});

test.each(['completed', 'completed_with_errors', 'expired', 'failed'])(
  'a job that is %s stays as it is',
  async (state) => {
    const caller = await api.caller();
    const jobId = await caller.submitted(1);
    await db.pool.query('UPDATE batch_jobs SET state = $2 WHERE tenant_id = $1', [
      (await caller.get(`/v1/batch-jobs/${jobId}`)).json.tenant_id,
      state,
    ]);
    const answer = await caller.post(`/v1/batch-jobs/${jobId}/cancel`);
    expect(answer).toMatchObject({ status: 200, json: { status: state, cancel: null } });
  },
);

test('the same key cancels once and answers the same', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(1);
  const headers = { 'idempotency-key': 'k' };
  const first = await caller.post(`/v1/batch-jobs/${jobId}/cancel`, { reason: 'a' }, headers);
  expect((await caller.post(`/v1/batch-jobs/${jobId}/cancel`, { reason: 'a' }, headers)).text).toBe(first.text);
  const other = await caller.post(`/v1/batch-jobs/${jobId}/cancel`, { reason: 'b' }, headers);
  expect(other).toMatchObject({ status: 409, json: { error: 'idempotency_conflict' } });
});
