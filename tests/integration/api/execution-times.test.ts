import { afterAll, beforeAll, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';

const JOBS = '/v1/batch-jobs';
const DAY_MS = 24 * 3_600_000;

let database: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  database = await createTestDatabase();
  api = createTestApi(database.db);
});
afterAll(() => database.drop());

const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();

test('what a job was asked to be run by is shown, times in UTC and all else as given', async () => {
  const caller = await api.caller();
  const deadline = ahead(2 * DAY_MS);
  const notBefore = new Date(Date.parse(ahead(DAY_MS)));
  const offset = `${new Date(notBefore.getTime() + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`;
  const execution = { deadline, not_before: offset, region: 'global', providers: ['openai'], max_items_per_shard: 5 };
  const jobId = await caller.draft(1, { execution });
  expect((await caller.get(`${JOBS}/${jobId}`)).json.execution).toEqual({
    ...execution,
    not_before: notBefore.toISOString(),
  });
  const plain = await caller.draft(0);
  expect((await caller.get(`${JOBS}/${plain}`)).json.execution).toEqual({
    deadline: null,
    not_before: null,
    region: null,
    providers: null,
    max_items_per_shard: null,
  });
});

test.each([
  ['past', () => ({ deadline: ahead(-1_000) }), 422, 'deadline_passed', 'execution.deadline'],
  ['too far', () => ({ deadline: ahead(61 * DAY_MS) }), 400, 'invalid_request', 'execution.deadline'],
  ['without a zone', () => ({ deadline: '2030-01-01T00:00:00' }), 400, 'invalid_request', 'execution.deadline'],
  ['no time', () => ({ deadline: 'tomorrow' }), 400, 'invalid_request', 'execution.deadline'],
  ['a beginning too far', () => ({ not_before: ahead(31 * DAY_MS) }), 400, 'invalid_request', 'execution.not_before'],
  [
    'a beginning after the end',
    () => ({ deadline: ahead(1_000_000), not_before: ahead(2_000_000) }),
    400,
    'invalid_request',
    'execution.not_before',
  ],
])('a time that is %s is refused when the job is made', async (_what, execution, status, error, field) => {
  const caller = await api.caller();
  const job = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', execution: execution() };
  const answer = await caller.post(JOBS, job);
  expect([answer.status, answer.json.error, answer.json.field]).toEqual([status, error, field]);
});

test('a draft whose deadline has passed is refused at submit and by the dry run, and so is a sample of it', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(2, { execution: { deadline: ahead(DAY_MS) } });
  await database.db.pool.query(`UPDATE batch_jobs SET deadline = now() - interval '1 second' WHERE job_id = $1`, [
    toUuid('job', jobId),
  ]);
  const { json: dry } = await caller.post(`${JOBS}/${jobId}/validate`);
  expect(dry.findings.map(({ error }: { error: string }) => error)).toEqual(['deadline_passed']);
  for (const body of [{}, { sample: 1 }]) {
    const answer = await caller.post(`${JOBS}/${jobId}/submit`, body);
    expect([answer.status, answer.json.error, answer.json.field]).toEqual([
      422,
      'deadline_passed',
      'execution.deadline',
    ]);
  }
  const { json: job } = await caller.get(`${JOBS}/${jobId}`);
  expect([job.status, job.sample_jobs]).toEqual(['draft', []]);
});

test('a sample has the deadline of its draft, and is not held back', async () => {
  const caller = await api.caller();
  const execution = { deadline: ahead(2 * DAY_MS), not_before: ahead(DAY_MS) };
  const jobId = await caller.draft(3, { execution });
  const { json: sample } = await caller.post(`${JOBS}/${jobId}/submit`, { sample: 1 });
  expect(sample.execution).toMatchObject({ deadline: execution.deadline, not_before: null });
});

test('nothing is shown to run past the deadline', async () => {
  const caller = await api.caller();
  const deadline = ahead(3_600_000);
  const jobId = await caller.submitted(1, { execution: { deadline } });
  expect((await caller.get(`${JOBS}/${jobId}`)).json.expires_at).toBeNull();
  const setWindow = (hours: number) =>
    database.db.pool.query('UPDATE batch_jobs SET expires_at = $2 WHERE job_id = $1', [
      toUuid('job', jobId),
      ahead(hours * 3_600_000),
    ]);
  await setWindow(24);
  expect((await caller.get(`${JOBS}/${jobId}`)).json.expires_at).toBe(deadline);
  await setWindow(0.5);
  expect((await caller.get(`${JOBS}/${jobId}`)).json.expires_at < deadline).toBe(true);
});
