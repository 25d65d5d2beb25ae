import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { ATTEMPT_TOKEN_BYTES, encodeAttemptToken } from '../../../domain/attempt-token.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { settleItems } from '../../harness/settled-items.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const operator = await api.caller('operator');

const CANDIDATES = ['batch_a', 'batch_b'].map((id) => ({
  provider_batch_id: id,
  native_status: 'in_progress',
  created_at: '2026-12-01T00:00:00.000Z',
  native_request_counts: { processing: 2 },
}));

interface Scene {
  readonly state?: string;
  readonly providerBatchId?: string | null;
  readonly candidates?: typeof CANDIDATES;
}

/** A job with one shard of two items, as its rows are told to be. */
async function jobIn({ state = 'running', providerBatchId = null, candidates }: Scene = {}): Promise<string> {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  await settleItems(db, jobId, []);
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query(
    `INSERT INTO batch_provider_metadata (job_id, shard, attempt, attempt_token, provider, provider_batch_id, endpoint,
       credential_id, item_count, create_started_at, create_deadline, create_outcome, candidates)
     VALUES ($1, 1, 1, $2, 'openai', $3, 'chat.completions', 'gateway', 2, now(), now(), $4, $5)`,
    [
      key.uuid,
      encodeAttemptToken(randomBytes(ATTEMPT_TOKEN_BYTES)),
      providerBatchId,
      providerBatchId === null ? null : 'accepted',
      candidates === undefined ? null : JSON.stringify(candidates),
    ],
  );
  await db.pool.query('UPDATE batch_shards SET state = $2, attempt = 1 WHERE job_id = $1', [key.uuid, state]);
  api.workflows.calls.length = 0;
  return jobId;
}

const path = (jobId: string, act = '') => `/v1/operator/jobs/${jobId}${act === '' ? '' : `/${act}`}`;
const view = async (jobId: string) => (await operator.get(path(jobId))).json;

async function eventsOf(jobId: string): Promise<unknown[]> {
  const { key } = await getJobRow(db.pool, jobId);
  const { rows } = await db.pool.query(`SELECT data FROM events WHERE job_id = $1 AND type = 'batch_job.given_up'`, [
    key.uuid,
  ]);
  return rows.map(({ data }) => data);
}

test('give-up marks the open shards, tells them, and is on record with actor, reason and one event', async () => {
  const jobId = await jobIn();
  const wish = { reason: 'the provider is gone' };
  const taken = { status: 202, json: { job_id: jobId, shards: [1], signalled: true } };
  expect(await operator.post(path(jobId, 'give-up'), wish)).toMatchObject(taken);
  // Once more, while the shard is still closing.
  expect(await operator.post(path(jobId, 'give-up'), wish)).toMatchObject(taken);
  expect(api.workflows.calls).toEqual([
    ['rowsChanged', jobId, [1]],
    ['rowsChanged', jobId, [1]],
  ]);
  const { shards, acts } = await view(jobId);
  expect(shards[0].given_up_at).toMatch(/^20/);
  expect(acts).toMatchObject([
    {
      act: 'give_up',
      shard: null,
      actor: expect.stringMatching(/^key_/),
      reason: wish.reason,
      details: { shards: [1] },
    },
  ]);
  // The reason is the operators’ own: events are told to the tenant.
  expect(await eventsOf(jobId)).toEqual([{ job_id: jobId, status: 'queued' }]);
});

test('give-up stands although Temporal is away, and says that nobody was told', async () => {
  const jobId = await jobIn();
  const { rowsChanged } = api.workflows;
  api.workflows.rowsChanged = async () => 'unreachable';
  const answer = await operator.post(path(jobId, 'give-up'), { shard: 1, reason: 'stuck' });
  api.workflows.rowsChanged = rowsChanged;
  expect(answer).toMatchObject({ status: 202, json: { shards: [1], signalled: false } });
  expect((await view(jobId)).shards[0].given_up_at).not.toBeNull();
});

test.each([
  ['give-up', { reason: 'r' }, 'settled', 'there is nothing to give up'],
  ['give-up', { reason: 'r', shard: 7 }, 'running', 'Shard 7 of this job is not open'],
  ['re-ingest', {}, 'running', 'No shard of this job has a batch'],
  ['re-ingest', { shard: 7 }, 'running', 'Shard 7 has no batch'],
  ['resolve', { shard: 1, none: true, reason: 'r' }, 'running', 'not indeterminate'],
  ['resolve', { shard: 7, none: true, reason: 'r' }, 'indeterminate', 'not indeterminate'],
  ['resolve', { shard: 1, provider_batch_id: 'batch_x', reason: 'r' }, 'indeterminate', 'batch_x is none of'],
])('%s %j of a shard that is not for it is 409, and nothing is noted', async (act, wish, state, message) => {
  const jobId = await jobIn({ state, candidates: CANDIDATES });
  const { status, json } = await operator.post(path(jobId, act), wish);
  expect([status, json.error]).toEqual([409, 'conflict']);
  expect(json.message).toContain(message);
  expect((await view(jobId)).acts).toEqual([]);
  expect(api.workflows.calls).toEqual([]);
});

test.each([
  ['give-up', {}],
  ['cancel', {}],
  ['resolve', { shard: 1, reason: 'r' }],
  ['resolve', { shard: 1, reason: 'r', none: true, provider_batch_id: 'batch_a' }],
  ['re-ingest', { shard: 0 }],
])('%s with %j is refused before anything is looked at', async (act, wish) => {
  expect((await operator.post(path('nonsense', act), wish)).status).toBe(400);
});

test.each([
  ['give-up', { reason: 'r' }],
  ['cancel', { reason: 'r' }],
  ['re-ingest', {}],
  ['resolve', { shard: 1, reason: 'r', none: true }],
])('%s is for operators alone, and 404 for a job that is not there', async (act, wish) => {
  const tenant = await api.caller();
  expect((await tenant.post(path('nonsense', act), wish)).status).toBe(403);
  expect((await operator.post(path('nonsense', act), wish)).status).toBe(404);
});

test('the candidates of an indeterminate shard are shown, and one is chosen by hand once', async () => {
  const jobId = await jobIn({ state: 'indeterminate', candidates: CANDIDATES });
  expect((await view(jobId)).shards[0].batches[0]).toMatchObject({ candidates: CANDIDATES, chosen_batch_id: null });
  const wish = { shard: 1, provider_batch_id: 'batch_b', reason: 'made at the same second' };
  for (const _time of ['first', 'again']) {
    const answer = await operator.post(path(jobId, 'resolve'), wish);
    expect(answer).toMatchObject({ status: 202, json: { shards: [1], signalled: true } });
  }
  const { shards, acts } = await view(jobId);
  expect(shards[0].batches[0]).toMatchObject({ chosen_batch_id: 'batch_b', provider_batch_id: null });
  expect(acts).toMatchObject([{ act: 'resolve', shard: 1, details: { provider_batch_id: 'batch_b' } }]);
});

test('after "none" the attempt is closed, its candidates are out of the question, and others may create', async () => {
  const jobId = await jobIn({ state: 'indeterminate', candidates: CANDIDATES });
  const wish = { shard: 1, none: true, reason: 'both are of the nightly script' };
  expect((await operator.post(path(jobId, 'resolve'), wish)).status).toBe(202);
  const { key } = await getJobRow(db.pool, jobId);
  const { rows } = await db.pool.query(
    `SELECT create_outcome, closed_at IS NOT NULL AS closed, disowned_batch_ids, candidates
     FROM batch_provider_metadata WHERE job_id = $1`,
    [key.uuid],
  );
  expect(rows).toEqual([
    { create_outcome: 'not_found', closed: true, disowned_batch_ids: ['batch_a', 'batch_b'], candidates: null },
  ]);
  expect((await view(jobId)).acts).toMatchObject([{ details: { none_of: ['batch_a', 'batch_b'] } }]);
  expect((await operator.post(path(jobId, 'resolve'), wish)).status).toBe(409);
});

test('re-ingest tells an open shard, and starts the workflow of a settled one', async () => {
  const open = await jobIn({ state: 'ingesting', providerBatchId: 'batch_open' });
  expect((await operator.post(path(open, 're-ingest'))).json).toMatchObject({ shards: [1], signalled: true });
  expect(api.workflows.calls).toEqual([['rowsChanged', open, [1]]]);
  expect((await view(open)).shards[0].reread_requested_at).toBeNull();
  const settled = await jobIn({ state: 'settled', providerBatchId: 'batch_settled' });
  const wish = { shard: 1, reason: 'the invoice says more' };
  expect((await operator.post(path(settled, 're-ingest'), wish)).status).toBe(202);
  expect(api.workflows.calls.at(-1)).toEqual(['startShard', settled, 1]);
  const { shards, acts } = await view(settled);
  expect(shards[0].reread_requested_at).not.toBeNull();
  expect(acts).toMatchObject([{ act: 're_ingest', reason: wish.reason }]);
});

test('results are not read again for a job whose content was deleted', async () => {
  const jobId = await jobIn({ state: 'settled', providerBatchId: 'batch_deleted' });
  const { key } = await getJobRow(db.pool, jobId);
  await db.pool.query('UPDATE batch_jobs SET content_deleted_at = now() WHERE job_id = $1', [key.uuid]);
  expect(await operator.post(path(jobId, 're-ingest'))).toMatchObject({
    status: 410,
    json: { error: 'content_deleted' },
  });
});

test('an operator cancels any tenant’s job, with actor and reason on record', async () => {
  const jobId = await jobIn();
  const answer = await operator.post(path(jobId, 'cancel'), { reason: 'asked on the phone' });
  expect(answer).toMatchObject({
    status: 202,
    json: { status: 'cancel_requested', cancel: { by: expect.stringMatching(/^key_/), reason: 'asked on the phone' } },
  });
  expect(api.workflows.calls).toEqual([['cancel', jobId, expect.objectContaining({ reason: 'asked on the phone' })]]);
  expect((await view(jobId)).acts).toMatchObject([{ act: 'cancel', reason: 'asked on the phone' }]);
});
