import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { type ApiCaller, createTestApi, FakeJobWorkflows } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endJob, settleItems } from '../../harness/settled-items.ts';
import { type End, endAs, endedJob, eventsOf, storedItems } from './failed-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const usual = new FakeJobWorkflows(db);
beforeEach(() => {
  api.workflows.submit = usual.submit;
});

const retry = (caller: ApiCaller, jobId: string, body: unknown = {}, headers: Record<string, string> = {}) =>
  caller.post(`/v1/batch-jobs/${jobId}/retry`, body, headers);

async function retriedIds(jobId: string): Promise<string[]> {
  return (await storedItems(db, jobId)).map((item) => item.custom_id);
}

test('a retry is a draft with the settings of its job and what failed of it, linked both ways', async () => {
  const caller = await api.caller();
  const settings = {
    name: 'reviews',
    metadata: { team: 'a' },
    max_cost: '5.00',
    request_defaults: { temperature: 0 },
    retry_policy: { max_attempts: 2 },
    execution: { max_items_per_shard: 7 },
  };
  const jobId = await endedJob(db, caller, [null, 'provider_error', null, 'expired'], settings);
  const answer = await retry(caller, jobId);
  expect(answer.status).toBe(201);
  const { job_id: retryId, execution, retry_policy, ...shown } = answer.json;
  expect(shown).toMatchObject({
    status: 'draft',
    name: 'reviews',
    metadata: { team: 'a' },
    counts: { total: 2, submitted: 0 },
  });
  expect(shown).toMatchObject({ retry_of_job_id: jobId, retry_jobs: [] });
  const original = (await caller.get(`/v1/batch-jobs/${jobId}`)).json;
  expect({ execution, retry_policy }).toEqual({ execution: original.execution, retry_policy: original.retry_policy });
  expect(original).toMatchObject({ retry_of_job_id: null, retry_jobs: [retryId] });
  const [, second, , fourth] = await storedItems(db, jobId);
  expect(await storedItems(db, retryId)).toEqual(
    [second, fourth].map((item, index) => ({
      ...item,
      item_no: index + 1,
      item_attempt: 2,
      item_id: item.retried_by_item_id,
      retry_of_item_id: item.item_id,
      retried_by_item_id: null,
    })),
  );
  const { rows } = await db.pool.query(
    `SELECT max_cost::text, request_defaults FROM batch_jobs WHERE job_id = ANY ($1)`,
    [[jobId, retryId].map((id) => toUuid('job', id))],
  );
  expect(rows[0]).toEqual(rows[1]);
});

test('a retry of everything is quoted as its job was', async () => {
  const caller = await api.caller();
  const jobId = await endedJob(db, caller, ['provider_error', 'cancelled', 'missing_result']);
  const quote = async (id: string) => (await caller.get(`/v1/batch-jobs/${id}/quote`)).json.quote.reserved;
  const { job_id: retryId } = (await retry(caller, jobId)).json;
  expect(await quote(retryId)).toBe(await quote(jobId));
});

const TAKEN: End[] = ['provider_error', 'rate_limited', 'missing_result', 'unparseable_result', 'expired', 'cancelled'];

describe('classes', () => {
  test.each(TAKEN)('%s is taken by itself', async (failureClass) => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, [null, failureClass]);
    const answer = await retry(caller, jobId, { classes: [failureClass] });
    expect([answer.status, await retriedIds(answer.json.job_id)]).toEqual([201, ['row_2']]);
  });

  test('without being told, all but validation and safety_blocked are', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, [null, 'validation', 'safety_blocked', ...TAKEN]);
    const { job_id: retryId } = (await retry(caller, jobId)).json;
    expect(await retriedIds(retryId)).toEqual(['row_4', 'row_5', 'row_6', 'row_7', 'row_8', 'row_9']);
    const rest = await retry(caller, jobId);
    expect(rest).toMatchObject({ status: 409, json: { error: 'nothing_to_retry' } });
    for (const part of [retryId, 'in requests', 'acknowledge_safety']) expect(rest.json.message).toContain(part);
  });

  test('narrow what is taken, and ids do too', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['expired', 'provider_error', 'expired', null]);
    const one = await retry(caller, jobId, { classes: ['expired'], custom_ids: ['row_2', 'row_3', 'row_4'] });
    expect(await retriedIds(one.json.job_id)).toEqual(['row_3']);
    const two = await retry(caller, jobId, { custom_ids: ['row_3', 'row_1'] });
    expect(await retriedIds(two.json.job_id)).toEqual(['row_1']);
    const original = (await caller.get(`/v1/batch-jobs/${jobId}`)).json;
    expect(original.retry_jobs).toEqual([two.json.job_id, one.json.job_id]);
  });

  test('an unknown id refuses the whole call', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['expired']);
    const answer = await retry(caller, jobId, { custom_ids: ['row_1', 'row_9'] });
    expect(answer).toMatchObject({ status: 422, json: { error: 'retry_not_allowed', field: 'custom_ids' } });
    expect(answer.json.details).toMatchObject([{ custom_id: 'row_9', error: 'not_found' }]);
    expect((await retry(caller, jobId)).status).toBe(201);
  });
});

describe('validation', () => {
  test('is refused as it is, naming where a corrected request goes', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['validation', 'expired']);
    for (const body of [{ classes: ['validation'] }, { custom_ids: ['row_1', 'row_2'] }]) {
      const answer = await retry(caller, jobId, body);
      expect(answer).toMatchObject({ status: 422, json: { error: 'retry_not_allowed' } });
      expect(answer.json.message).toContain('requests');
    }
    expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json.retry_jobs).toEqual([]);
  });

  test('is taken with a corrected request, measured anew', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['validation', 'expired', 'validation']);
    const request = { messages: [{ role: 'user', content: 'word '.repeat(500) }], max_tokens: 900, n: 2 };
    const answer = await retry(caller, jobId, { requests: { row_1: request } });
    expect(answer.status).toBe(201);
    const retryId: string = answer.json.job_id;
    const [copy, corrected, ...others] = await storedItems(db, retryId);
    expect(others).toEqual([]);
    expect(copy.custom_id).toBe('row_2');
    expect(corrected).toMatchObject({ custom_id: 'row_1', item_no: 2, item_attempt: 2, body: JSON.stringify(request) });
    const other = await caller.draft(1);
    const items = [{ custom_id: 'corrected', request }];
    await caller.post(`/v1/batch-jobs/${other}/items`, { items });
    const quote = async (id: string) => (await caller.get(`/v1/batch-jobs/${id}/quote`)).json.quote.reserved;
    expect(await quote(retryId)).toBe(await quote(other));
  });

  test.each([
    ['a request that is none of the endpoint', { row_1: { messages: [], model: 7 } }, 'invalid_item'],
    ['a request for an item that completed', { row_2: { messages: [] } }, 'retry_not_allowed'],
    [
      'a request for an item that is not there',
      { row_1: { messages: [] }, row_9: { messages: [] } },
      'retry_not_allowed',
    ],
    ['a number that would change', { row_1: { seed: 2 ** 60 } }, 'invalid_request'],
  ])('refuses %s', async (_, requests, error) => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['validation', null]);
    const answer = await retry(caller, jobId, { requests });
    expect(answer.json).toMatchObject({ error, details: [{ error }] });
    expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json.retry_jobs).toEqual([]);
  });
});

describe('safety_blocked', () => {
  test.each([
    ['its class alone', { classes: ['safety_blocked'] }],
    ['its id alone', { custom_ids: ['row_1'] }],
    ['an acknowledgement alone', { acknowledge_safety: true }],
    ['its class and an acknowledgement', { classes: ['safety_blocked'], acknowledge_safety: true }],
  ])('is not taken by %s', async (_, body) => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['safety_blocked', 'expired']);
    const answer = await retry(caller, jobId, body);
    expect(answer).toMatchObject({ status: 422, json: { error: 'safety_acknowledgement_required' } });
  });

  test('is taken when named and acknowledged, which is on record; until then it needs review', async () => {
    const tenantId = await api.tenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    const jobId = await endedJob(db, caller, ['safety_blocked', 'safety_blocked', 'expired']);
    const item = async () => (await caller.get(`/v1/batch-jobs/${jobId}/items/row_1`)).json;
    expect(await item()).toMatchObject({ needs_review: true });
    const body = { custom_ids: ['row_1', 'row_3'], acknowledge_safety: true };
    const { job_id: retryId } = (await retry(caller, jobId, body)).json;
    expect(await retriedIds(retryId)).toEqual(['row_1', 'row_3']);
    expect(await item()).toMatchObject({ needs_review: false });
    const key = await db.pool.query('SELECT key_id FROM api_keys WHERE tenant_id = $1', [tenantId]);
    expect(await eventsOf(db, jobId, 'batch_job.safety_retry_acknowledged')).toEqual([
      { job_id: jobId, retry_job_id: retryId, by: key.rows[0].key_id, custom_ids: ['row_1'] },
    ]);
  });
});

describe('state', () => {
  test('a draft, a running job and one whose requests are gone say what to do', async () => {
    const caller = await api.caller();
    expect(await retry(caller, await caller.draft(1))).toMatchObject({ status: 409, json: { error: 'conflict' } });
    const running = await caller.submitted(1);
    expect(await retry(caller, running)).toMatchObject({ status: 409, json: { error: 'job_not_finished' } });
    await endAs(db, running, ['expired']);
    await caller.call('DELETE', `/v1/batch-jobs/${running}`);
    expect(await retry(caller, running)).toMatchObject({ status: 409, json: { error: 'request_not_stored' } });
  });

  test('nothing is made of a job that completed', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, [null, null]);
    for (const body of [{}, { custom_ids: ['row_1'] }]) {
      expect(await retry(caller, jobId, body)).toMatchObject({ status: 409, json: { error: 'nothing_to_retry' } });
    }
    expect((await caller.get('/v1/batch-jobs')).json.data).toHaveLength(1);
  });

  test.each([
    ['is still read', "state = 'ingesting'"],
    ['is to be read once more', 'reread_requested_at = now()'],
  ])('an item whose batch %s is not retryable yet', async (_, change) => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['missing_result', null]);
    await db.pool.query(`UPDATE batch_shards SET ${change} WHERE job_id = $1`, [toUuid('job', jobId)]);
    for (const body of [{}, { custom_ids: ['row_1'] }]) {
      const answer = await retry(caller, jobId, body);
      expect(answer).toMatchObject({ status: 409, json: { error: 'conflict' } });
      expect(answer.json.message).toContain('may still come');
    }
    await endJob(db, jobId);
    await db.pool.query('UPDATE batch_shards SET reread_requested_at = NULL WHERE job_id = $1', [toUuid('job', jobId)]);
    expect((await retry(caller, jobId)).status).toBe(201);
  });

  test('a job that was cancelled before it ran can be retried', async () => {
    const caller = await api.caller();
    const jobId = await caller.draft(2);
    await caller.post(`/v1/batch-jobs/${jobId}/cancel`);
    const { job_id: retryId } = (await retry(caller, jobId, { classes: ['cancelled'] })).json;
    expect(await retriedIds(retryId)).toEqual(['row_1', 'row_2']);
  });

  test('a suspended customer starts nothing', async () => {
    const tenantId = await api.tenant();
    await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'one', 'One')", [tenantId]);
    const caller = await api.caller('tenant_admin', { tenantId });
    const jobId = await endedJob(db, caller, ['expired'], { customer_id: 'one' });
    const its = await api.caller('customer', { tenantId, customerId: 'one' });
    await db.pool.query('UPDATE customers SET suspended_at = now() WHERE tenant_id = $1', [tenantId]);
    expect(await retry(caller, jobId)).toMatchObject({ status: 403, json: { error: 'tenant_suspended' } });
    await db.pool.query('UPDATE customers SET suspended_at = NULL WHERE tenant_id = $1', [tenantId]);
    expect((await retry(its, jobId)).json).toMatchObject({ customer_id: 'one', counts: { total: 1 } });
  });

  test('a deadline that has passed is not taken over, one to come is', async () => {
    const caller = await api.caller();
    const deadline = new Date(Date.now() + 86_400_000).toISOString();
    const [kept, passed] = await Promise.all(
      [1, 2].map(() => endedJob(db, caller, ['expired'], { execution: { deadline } })),
    );
    await db.pool.query('UPDATE batch_jobs SET deadline = now() WHERE job_id = $1', [toUuid('job', passed ?? '')]);
    expect((await retry(caller, kept ?? '')).json.execution).toMatchObject({ deadline });
    expect((await retry(caller, passed ?? '')).json.execution).toMatchObject({ deadline: null });
  });
});

describe('once', () => {
  test('two retries at once make one set, and the second is told which', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['expired', 'expired', null]);
    const answers = await Promise.all(Array.from({ length: 4 }, () => retry(caller, jobId)));
    const [made, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(made).toMatchObject({ status: 201, json: { counts: { total: 2 } } });
    for (const { status, json } of others) {
      expect([status, json.error]).toEqual([409, 'nothing_to_retry']);
      expect(json.message.match(/job_[0-9a-z]+/g)).toEqual([made?.json.job_id]);
    }
    expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json.retry_jobs).toEqual([made?.json.job_id]);
  });

  test('a repeated key gives the same answer, also with submit', async () => {
    const caller = await api.caller();
    const headers = { 'idempotency-key': 'again' };
    for (const body of [{}, { submit: true }]) {
      const jobId = await endedJob(db, caller, ['expired']);
      const answers = await Promise.all([1, 2, 3].map(() => retry(caller, jobId, body, headers)));
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(new Set(answers.map(({ json }) => json.job_id)).size).toBe(1);
      expect(await retry(caller, jobId, { classes: ['expired'] }, headers)).toMatchObject({
        status: 409,
        json: { error: 'idempotency_conflict' },
      });
    }
  });

  test('deleting the draft gives the items back, and a submitted retry keeps them', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['expired', null]);
    const first = (await retry(caller, jobId)).json.job_id;
    expect((await caller.call('DELETE', `/v1/batch-jobs/${first}`)).status).toBe(204);
    expect((await caller.get(`/v1/batch-jobs/${jobId}/items/row_1`)).json.retried_by_item_id).toBeNull();
    const second = await retry(caller, jobId, { submit: true });
    expect(second.json).toMatchObject({ status: 'queued', counts: { submitted: 1 } });
    await endAs(db, second.json.job_id, ['expired']);
    await caller.call('DELETE', `/v1/batch-jobs/${second.json.job_id}`);
    expect((await retry(caller, jobId)).json.message).toContain(second.json.job_id);
  });

  test('a cancelled draft keeps the items, for a retry of its own, until it is deleted', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, ['expired']);
    const first = (await retry(caller, jobId)).json.job_id;
    await caller.post(`/v1/batch-jobs/${first}/cancel`);
    expect((await retry(caller, jobId)).json.message).toContain(first);
    const second = (await retry(caller, first)).json.job_id;
    expect(await storedItems(db, second)).toMatchObject([{ custom_id: 'row_1', item_attempt: 3 }]);
    await caller.call('DELETE', `/v1/batch-jobs/${second}`);
    await caller.call('DELETE', `/v1/batch-jobs/${first}`);
    expect((await retry(caller, jobId)).status).toBe(201);
  });

  test('a completed item of a retry is never taken again, a failed one is, in a chain', async () => {
    const caller = await api.caller();
    const first = await endedJob(db, caller, ['expired', 'expired', 'expired']);
    const second = (await retry(caller, first, { submit: true })).json.job_id;
    await endAs(db, second, [null, 'expired', 'provider_error']);
    const third = (await retry(caller, second, { submit: true })).json.job_id;
    expect(await retriedIds(third)).toEqual(['row_2', 'row_3']);
    expect(await storedItems(db, third)).toMatchObject([{ item_attempt: 3 }, { item_attempt: 3 }]);
    expect((await retry(caller, first)).json.message).toContain(second);
  });

  test('the items of a retry are fixed', async () => {
    const caller = await api.caller();
    const { job_id: retryId } = (await retry(caller, await endedJob(db, caller, ['expired']))).json;
    const items = [{ custom_id: 'row_1', request: { messages: [{ role: 'user', content: 'x' }] } }];
    const answer = await caller.post(`/v1/batch-jobs/${retryId}/items`, { items });
    expect(answer).toMatchObject({ status: 409, json: { error: 'conflict' } });
  });
});

test('settling items again changes nothing of which may be retried', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  await settleItems(db, jobId, [{ itemNo: 1 }]);
  expect(await retry(caller, jobId)).toMatchObject({ status: 409, json: { error: 'job_not_finished' } });
});
