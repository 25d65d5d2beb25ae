import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BatchSchedule } from '../../contracts/batch-schedule.ts';
import { runCli } from '../testing/run-cli.ts';

const ID = 'sched_01j7zb8k3te9aabfm0z0e2d3k4';
const NIGHTLY = {
  name: 'nightly',
  schedule: { cron: '0 2 * * *', time_zone: 'Europe/Berlin' },
  job: { endpoint: 'chat.completions', model: 'analysis-small' },
  items: { manifest_of_job: 'job_1' },
};

function schedule(changes: Partial<BatchSchedule> = {}): BatchSchedule {
  return BatchSchedule.parse({
    ...NIGHTLY,
    schedule_id: ID,
    tenant_id: 'tenant_local',
    project_id: null,
    customer_id: null,
    submit: true,
    overlap: 'skip',
    deadline_after_seconds: null,
    paused: false,
    next_runs: ['2026-08-20T00:00:00.000Z'],
    runs: [],
    created_at: '2026-08-19T10:00:00.000Z',
    updated_at: '2026-08-19T10:00:00.000Z',
    ...changes,
  });
}

const calls: { call: string; body: unknown }[] = [];
let answers: { [call: string]: unknown };
let url: string;
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const call = `${request.method} ${request.url?.split('?')[0]}`;
  calls.push({ call, body: text === '' ? null : JSON.parse(text) });
  const answer = answers[call];
  response.writeHead(request.method === 'DELETE' ? 204 : 200, { 'content-type': 'application/json' });
  response.end(answer === undefined ? undefined : JSON.stringify(answer));
});
beforeEach(async () => {
  calls.length = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function run(args: string[], input?: string) {
  const environment = { BATCHGATE_URL: url, BATCHGATE_KEY: 'tenant' };
  return runCli(['schedules', ...args], { environment, ...(input !== undefined && { standardInput: input }) });
}

test('list shows when each runs next and what became of the last run', async () => {
  const last = {
    scheduled_for: '2026-08-19T00:00:00.000Z',
    started_at: '2026-08-19T00:00:00.000Z',
    ended_at: '2026-08-19T00:00:01.000Z',
    job_id: 'job_7',
    job_status: 'completed' as const,
    outcome: 'submitted' as const,
    error: null,
  };
  answers = { 'GET /v1/batch-schedules': { data: [schedule({ runs: [last] })], next_cursor: null } };
  const { code, out } = await run(['list']);
  expect(code).toBe(0);
  expect(out.split('\n')[1]?.split(/ {2,}/)).toEqual([
    ID,
    'nightly',
    '0 2 * * * Europe/Berlin',
    '2026-08-20T00:00:00.000Z',
    'submitted',
    'job_7',
  ]);
});

test('create sends what the file holds, and refuses what cannot be right before it is sent', async () => {
  answers = { 'POST /v1/batch-schedules': schedule() };
  const { code, out } = await run(['create', '-'], JSON.stringify(NIGHTLY));
  expect([code, out]).toEqual([0, `${ID} is made; it runs next at 2026-08-20T00:00:00.000Z.\n`]);
  expect(calls[0]?.body).toMatchObject(NIGHTLY);
  const wrong = await run(['create', '-'], JSON.stringify({ ...NIGHTLY, schedule: { cron: 'never' } }));
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('schedule.cron');
  expect(calls).toHaveLength(1);
});

test('pause, resume, run and delete name the schedule', async () => {
  const path = `/v1/batch-schedules/${ID}`;
  answers = {
    [`PATCH ${path}`]: schedule({ paused: true, next_runs: [] }),
    [`POST ${path}/run`]: { schedule_id: ID, triggered: true },
  };
  expect((await run(['pause', ID])).out).toBe(`${ID} is paused.\n`);
  answers[`PATCH ${path}`] = schedule();
  expect((await run(['resume', ID])).out).toBe(`${ID} runs next at 2026-08-20T00:00:00.000Z.\n`);
  expect((await run(['run', ID])).code).toBe(0);
  expect((await run(['delete', ID])).out).toBe(`${ID} is deleted; its jobs stay.\n`);
  expect(calls).toEqual([
    { call: `PATCH ${path}`, body: { paused: true } },
    { call: `PATCH ${path}`, body: { paused: false } },
    { call: `POST ${path}/run`, body: {} },
    { call: `DELETE ${path}`, body: null },
  ]);
});

test('an action without its schedule, or one that is not known, is a usage error', async () => {
  expect((await run(['pause'])).err).toContain('schedules pause needs a schedule.');
  expect((await run(['stop', ID])).err).toContain('ACTION "stop" is not known.');
});
