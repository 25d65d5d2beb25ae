import { afterAll, describe, expect, test } from 'vitest';
import { createJobActivities } from '../../../activities/job.ts';
import { toUuid } from '../../../db/ids.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { type ApiCaller, chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endAs, endedJob } from '../retry/failed-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');
const JOB = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' };
const REASON = 'Invoice 4711 is due.';
const SCHEDULE = {
  name: 'nightly',
  schedule: { cron: '0 3 * * *' },
  job: JOB,
  items: { items_url: 'https://93.184.215.14/items' },
};
const NDJSON = { body: `${JSON.stringify(chatItem('n'))}\n`, headers: { 'content-type': 'application/x-ndjson' } };

/** A tenant's caller with work in every state, and where to suspend it. */
async function arrange(of: 'tenant' | 'customer') {
  const tenantId = await api.tenant();
  const path = `/v1/admin/tenants/${tenantId}`;
  await admin.post(`${path}/customers`, { customer_id: 'one', name: 'One' });
  const caller = await api.caller('tenant_admin', { tenantId });
  const options = of === 'customer' ? { customer_id: 'one' } : {};
  const schedule = await caller.post('/v1/batch-schedules', { ...SCHEDULE, job: { ...JOB, ...options } });
  return {
    caller,
    options,
    draft: await caller.draft(2, options),
    running: await caller.submitted(1, options),
    ended: await endedJob(db, caller, ['expired'], options),
    scheduleId: schedule.json.schedule_id as string,
    account: of === 'customer' ? `${path}/customers/one` : path,
  };
}

describe.each(['tenant', 'customer'] as const)('a suspended %s', (of) => {
  test('starts nothing new, is told why, and does all else', async () => {
    const { caller, options, draft, running, ended, scheduleId, account } = await arrange(of);
    const job = `/v1/batch-jobs/${draft}`;
    const suspended = await admin.post(`${account}/suspend`, { reason: REASON });
    expect(suspended.json).toMatchObject({ suspended_at: expect.any(String), suspension_reason: REASON });
    const refused: [string, string, Parameters<ApiCaller['call']>[2]][] = [
      ['POST', '/v1/batch-jobs', { json: { ...JOB, ...options } }],
      ['POST', `${job}/items`, { json: { items: [chatItem('more')] } }],
      ['POST', `${job}/items`, { json: { items: [chatItem('more')] }, headers: { 'idempotency-key': 'a' } }],
      ['PUT', `${job}/manifest`, NDJSON],
      ['POST', `${job}/submit`, {}],
      ['POST', `${job}/submit`, { json: { sample: 1 } }],
      ['POST', `/v1/batch-jobs/${ended}/retry`, {}],
      ['POST', '/v1/batch-schedules', { json: { ...SCHEDULE, job: { ...JOB, ...options } } }],
      ['POST', `/v1/batch-schedules/${scheduleId}/run`, {}],
    ];
    for (const [method, path, call] of refused) {
      const { status, json } = await caller.call(method, path, call);
      expect([method, path, status, json.error]).toEqual([method, path, 403, 'tenant_suspended']);
      expect(json.message).toContain(REASON);
    }
    const validation = await caller.post(`${job}/validate`);
    expect(validation.json).toMatchObject({ ok: false, findings: [{ error: 'tenant_suspended', field: `${of}_id` }] });
    const reads = ['/v1/batch-jobs', job, `/v1/batch-jobs/${ended}/results`, '/v1/usage?format=csv', '/v1/budgets'];
    for (const path of reads) expect([path, (await caller.get(path)).status]).toEqual([path, 200]);
    expect((await caller.post(`/v1/batch-jobs/${running}/submit`)).status).toBe(200);
    expect((await caller.post(`/v1/batch-jobs/${running}/cancel`)).status).toBe(202);
    expect((await caller.call('PATCH', `/v1/batch-schedules/${scheduleId}`, { json: { paused: true } })).status).toBe(
      200,
    );
    for (const id of [ended, draft]) expect((await caller.call('DELETE', `/v1/batch-jobs/${id}`)).status).toBe(204);
    expect((await admin.post(`${account}/resume`)).json).toMatchObject({ suspended_at: null, suspension_reason: null });
    expect((await caller.post('/v1/batch-jobs', { ...JOB, ...options })).status).toBe(201);
  });

  test('that is suspended while a submission is judged gets its draft back, with the reason', async () => {
    const { caller, draft, account } = await arrange(of);
    const { submit } = api.workflows;
    api.workflows.submit = async (job, waitMs) => {
      await admin.post(`${account}/suspend`, { reason: REASON });
      return submit(job, waitMs);
    };
    const answer = await caller.post(`/v1/batch-jobs/${draft}/submit`);
    api.workflows.submit = submit;
    expect(answer).toMatchObject({ status: 403, json: { error: 'tenant_suspended' } });
    expect(answer.json.message).toContain(REASON);
    const { json } = await caller.get(`/v1/batch-jobs/${draft}`);
    expect(json).toMatchObject({ status: 'draft', refusal: { error: 'tenant_suspended' } });
    const { rows } = await db.pool.query('SELECT 1 FROM holds WHERE job_id = $1', [toUuid('job', draft)]);
    expect(rows).toEqual([]);
  });

  test('has what runs planned and settled', async () => {
    const { caller, running, account } = await arrange(of);
    await admin.post(`${account}/suspend`, { reason: REASON });
    const { planShards } = createJobActivities(testDependencies(db));
    await runActivity(planShards, { jobId: running });
    const { rowCount } = await db.pool.query('SELECT 1 FROM batch_shards WHERE job_id = $1', [toUuid('job', running)]);
    expect(rowCount).toBe(1);
    await endAs(db, running, [null]);
    expect((await caller.get(`/v1/batch-jobs/${running}`)).json).toMatchObject({
      status: 'completed',
      counts: { completed: 1 },
    });
  });
});

test('another customer of the tenant works on', async () => {
  const { caller, account } = await arrange('customer');
  await admin.post(`${account}/suspend`, { reason: REASON });
  expect((await caller.post('/v1/batch-jobs', JOB)).status).toBe(201);
});

test('suspended again it keeps its time and tells the new reason; resumed twice changes nothing', async () => {
  const { caller, account } = await arrange('tenant');
  const first = await admin.post(`${account}/suspend`, { reason: 'one' });
  const second = await admin.post(`${account}/suspend`, { reason: 'two' });
  expect(second.json).toMatchObject({ suspended_at: first.json.suspended_at, suspension_reason: 'two' });
  for (const _ of [1, 2]) await admin.post(`${account}/resume`);
  const { json } = await caller.get('/v1/audit-log?actor=gateway');
  const acts = json.data.map(({ act }: { act: string }) => act).filter((act: string) => act.startsWith('tenant.'));
  expect(acts).toEqual(['tenant.resumed', 'tenant.suspended', 'tenant.suspended']);
  expect((await admin.post(`${account}/suspend`, {})).json).toMatchObject({
    error: 'invalid_request',
    field: 'reason',
  });
});
