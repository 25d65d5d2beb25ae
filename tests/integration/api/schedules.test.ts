import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';

const PATH = '/v1/batch-schedules';
const NIGHTLY = {
  name: 'nightly',
  schedule: { cron: '0 2 * * *', time_zone: 'Europe/Berlin' },
  job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' },
  items: { items_url: 'https://items.example/today' },
};

let database: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  database = await createTestDatabase();
  api = createTestApi(database.db);
});
afterAll(() => database.drop());

async function countRows(tenantId: string): Promise<number> {
  const { rows } = await database.db.pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM batch_schedules WHERE tenant_id = $1 AND deleted_at IS NULL',
    [tenantId],
  );
  return rows[0]?.count ?? 0;
}

test('a schedule is made, shown, listed, changed, fired and deleted', async () => {
  const caller = await api.caller();
  const created = await caller.post(PATH, NIGHTLY);
  expect(created.status).toBe(201);
  const id: string = created.json.schedule_id;
  expect(created.json).toMatchObject({
    ...NIGHTLY,
    submit: true,
    overlap: 'skip',
    deadline_after_seconds: null,
    paused: false,
    runs: [],
  });
  expect(created.json.next_runs).toHaveLength(5);
  expect(api.scheduleClock.schedules.get(id)).toMatchObject({ name: 'nightly', pausedAt: null });
  expect((await caller.get(`${PATH}/${id}`)).json).toEqual(created.json);
  expect((await caller.get(PATH)).json).toEqual({ data: [created.json], next_cursor: null });

  const paused = await caller.call('PATCH', `${PATH}/${id}`, { json: { paused: true, overlap: 'allow' } });
  expect(paused.json).toMatchObject({ paused: true, overlap: 'allow', next_runs: [], name: 'nightly' });
  expect(api.scheduleClock.schedules.get(id)?.pausedAt).not.toBeNull();
  const changed = { paused: false, schedule: { every_seconds: 3_600 }, deadline_after_seconds: 600 };
  expect((await caller.call('PATCH', `${PATH}/${id}`, { json: changed })).json).toMatchObject(changed);
  expect(api.scheduleClock.schedules.get(id)?.timing).toEqual({ every_seconds: 3_600 });

  const run = await caller.post(`${PATH}/${id}/run`, {}, { 'idempotency-key': 'once' });
  expect([run.status, run.json]).toEqual([202, { schedule_id: id, triggered: true }]);
  await caller.post(`${PATH}/${id}/run`, {}, { 'idempotency-key': 'once' });
  expect(api.scheduleClock.triggered.filter((each) => each === id)).toHaveLength(1);

  expect((await caller.call('DELETE', `${PATH}/${id}`)).status).toBe(204);
  expect(api.scheduleClock.schedules.has(id)).toBe(false);
  expect((await caller.get(`${PATH}/${id}`)).status).toBe(404);
  expect((await caller.get(PATH)).json.data).toEqual([]);
});

test('the same call twice makes one schedule', async () => {
  const tenantId = await api.tenant();
  const caller = await api.caller('tenant_admin', { tenantId });
  const first = await caller.post(PATH, NIGHTLY, { 'idempotency-key': 'a' });
  const second = await caller.post(PATH, NIGHTLY, { 'idempotency-key': 'a' });
  expect(second.json).toEqual(first.json);
  expect(await countRows(tenantId)).toBe(1);
});

test('while Temporal is away nothing is made or changed, and reads go on', async () => {
  const tenantId = await api.tenant();
  const caller = await api.caller('tenant_admin', { tenantId });
  const { schedule_id: id } = (await caller.post(PATH, NIGHTLY)).json;
  api.scheduleClock.isAway = true;
  try {
    const statuses = [
      (await caller.post(PATH, NIGHTLY)).status,
      (await caller.call('PATCH', `${PATH}/${id}`, { json: { paused: true } })).status,
      (await caller.post(`${PATH}/${id}/run`)).status,
      (await caller.call('DELETE', `${PATH}/${id}`)).status,
    ];
    expect(statuses).toEqual([503, 503, 503, 503]);
    expect(await countRows(tenantId)).toBe(1);
    const shown = await caller.get(`${PATH}/${id}`);
    expect(shown.json).toMatchObject({ paused: false, next_runs: null });
  } finally {
    api.scheduleClock.isAway = false;
  }
});

test.each([
  ['two timings', { schedule: { cron: '0 2 * * *', every_seconds: 60 } }, 'schedule'],
  ['no timing', { schedule: {} }, 'schedule'],
  ['a cron of six fields', { schedule: { cron: '0 0 2 * * *' } }, 'schedule.cron'],
  ['an unknown time zone', { schedule: { cron: '0 2 * * *', time_zone: 'Mars/Olympus' } }, 'schedule.time_zone'],
  ['a pace faster than a minute', { schedule: { every_seconds: 59 } }, 'schedule.every_seconds'],
  ['an hour that is none', { schedule: { calendar: { hours: [24] } } }, 'schedule.calendar.hours[0]'],
  ['two sources of items', { items: { items_url: 'https://a.example/', manifest_of_job: 'job_1' } }, 'items'],
  ['a URL without TLS', { items: { items_url: 'http://items.example/' } }, 'items.items_url'],
  ['a URL of another kind', { items: { items_url: 'file:///etc/passwd' } }, 'items.items_url'],
  ['a URL with a password', { items: { items_url: 'https://a:b@items.example/' } }, 'items.items_url'],
  [
    'a deadline that is one point in time',
    { job: { ...NIGHTLY.job, execution: { deadline: '2030-01-01T00:00:00Z' } } },
    'job.execution.deadline',
  ],
  ['an unknown field of the job', { job: { ...NIGHTLY.job, colour: 'red' } }, 'job.colour'],
])('%s is refused by name', async (_what, change, field) => {
  const answer = await (await api.caller()).post(PATH, { ...NIGHTLY, ...change });
  expect([answer.status, answer.json.error, answer.json.field]).toEqual([400, 'invalid_request', field]);
});

test('items to be copied are looked at when the schedule is made', async () => {
  const caller = await api.caller();
  const source = await caller.draft(2);
  const empty = await caller.draft(0);
  const foreign = await (await api.caller()).draft(1);
  const made = async (jobId: string, job: Record<string, unknown> = NIGHTLY.job) => {
    const answer = await caller.post(PATH, { ...NIGHTLY, job, items: { manifest_of_job: jobId } });
    return [answer.status, answer.json.error];
  };
  expect(await made(source)).toEqual([201, undefined]);
  expect(await made(empty)).toEqual([422, 'empty_job']);
  expect(await made(foreign)).toEqual([404, 'not_found']);
  expect(await made(source, { endpoint: 'embeddings', model: 'openai/text-embedding-3-small' })).toEqual([
    409,
    'conflict',
  ]);
  expect(await made(source, { ...NIGHTLY.job, request_defaults: { temperature: 1 } })).toEqual([409, 'conflict']);
});

test('a schedule is its tenant’s, and a narrowed key’s, alone', async () => {
  const tenantId = await api.tenant();
  const owner = await api.caller('tenant_admin', { tenantId });
  const { schedule_id: id } = (await owner.post(PATH, NIGHTLY)).json;
  await database.db.pool.query(`INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'other', 'other')`, [
    tenantId,
  ]);
  const strangers = [await api.caller(), await api.caller('project', { tenantId, projectId: 'other' })];
  for (const stranger of strangers) {
    const answers = [
      await stranger.get(`${PATH}/${id}`),
      await stranger.call('PATCH', `${PATH}/${id}`, { json: { paused: true } }),
      await stranger.post(`${PATH}/${id}/run`),
      await stranger.call('DELETE', `${PATH}/${id}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await stranger.get(PATH)).json.data).toEqual([]);
  }
  expect((await (await api.caller('operator')).get(PATH)).status).toBe(403);
});
