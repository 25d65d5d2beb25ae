import { afterAll, beforeEach, expect, test } from 'vitest';
import { createJobActivities } from '../../../activities/job.ts';
import { testDependencies } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
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
    counts: { total: 2, submitted: 0 },
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
  expect(job.json).toMatchObject({ status: 'cancelled', cost: { held: '0.00', reserved: '0.00' } });
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
