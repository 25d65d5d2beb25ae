import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebhookDelivery, WebhookEndpoint } from '../../contracts/webhook.ts';
import { runCli } from '../testing/run-cli.ts';

const ID = 'whe_01j7zb8k3te9aabfm0z0e2d3k4';
const SENT = 'whd_01j7zb8k3te9aabfm0z0e2d3k4';
const AT = '2026-08-19T10:00:00.000Z';
const ENDPOINT = WebhookEndpoint.parse({
  endpoint_id: ID,
  tenant_id: 'tenant_local',
  project_id: null,
  url: 'https://hooks.example.com/',
  event_types: ['batch_job.failed'],
  description: null,
  give_up_after_seconds: null,
  disabled: false,
  disabled_at: null,
  disabled_reason: null,
  previous_secret_until: null,
  created_at: AT,
  updated_at: AT,
});
const DELIVERY = WebhookDelivery.parse({
  delivery_id: SENT,
  event_id: 'evt_1',
  event_type: 'batch_job.failed',
  job_id: 'job_1',
  endpoint_id: ID,
  url: ENDPOINT.url,
  status: 'abandoned',
  attempts: 7,
  replays: 0,
  status_code: 503,
  error: 'bad_status',
  next_attempt_at: null,
  give_up_at: AT,
  created_at: AT,
  ended_at: AT,
});

const calls: { call: string; body: unknown }[] = [];
let answers: { [call: string]: unknown };
let url: string;
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const call = `${request.method} ${request.url}`;
  calls.push({ call, body: text === '' ? null : JSON.parse(text) });
  response.writeHead(request.method === 'DELETE' ? 204 : 200, { 'content-type': 'application/json' });
  const answer = answers[call];
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

function run(...args: string[]) {
  return runCli(['webhooks', ...args], { environment: { BATCHGATE_URL: url, BATCHGATE_KEY: 'tenant' } });
}

test('add shows the secret, and refuses what cannot be right before it is sent', async () => {
  answers = { 'POST /v1/webhooks': { ...ENDPOINT, secret: 'whsec_x' } };
  const { code, out } = await run('add', ENDPOINT.url, '--events', 'batch_job.failed, batch_job.completed');
  expect([code, out]).toEqual([0, `${ID} is made. Its secret, shown this once:\nwhsec_x\n`]);
  expect(calls[0]?.body).toEqual({ url: ENDPOINT.url, event_types: ['batch_job.failed', 'batch_job.completed'] });
  expect((await run('add', ENDPOINT.url, '--events', 'batch_job.done')).err).toContain('event_types.0');
  expect(calls).toHaveLength(1);
});

test('list and show tell what is told where', async () => {
  answers = {
    'GET /v1/webhooks?limit=100': { data: [ENDPOINT], next_cursor: null },
    [`GET /v1/webhooks/${ID}`]: ENDPOINT,
  };
  const row = [ID, ENDPOINT.url, 'batch_job.failed', '-', 'enabled'];
  expect((await run('list')).out.split('\n')[1]?.split(/ {2,}/)).toEqual(row);
  expect((await run('show', ID)).out.split('\n')[1]?.split(/ {2,}/)).toEqual(row);
});

test('deliveries are filtered, and replayed', async () => {
  answers = {
    [`GET /v1/webhooks/deliveries?limit=100&endpoint_id=${ID}&status=abandoned`]: {
      data: [DELIVERY],
      next_cursor: null,
    },
    [`POST /v1/webhooks/deliveries/${SENT}/replay`]: DELIVERY,
  };
  const { out } = await run('deliveries', ID, '--status', 'abandoned');
  expect(out.split('\n')[1]?.split(/ {2,}/)).toEqual([
    SENT,
    'batch_job.failed',
    'job_1',
    'abandoned',
    '7',
    'bad_status',
    '-',
  ]);
  expect((await run('replay', SENT)).out).toBe(`${SENT} is on its way once more.\n`);
});

test('rotate, job-secret, test and remove', async () => {
  answers = {
    [`POST /v1/webhooks/${ID}/rotate-secret`]: { secret: 'whsec_y', previous_secret_until: AT },
    'POST /v1/webhooks/job-secret/rotate': { secret: 'whsec_z', previous_secret_until: null },
    [`POST /v1/webhooks/${ID}/test`]: DELIVERY,
  };
  expect((await run('rotate', ID)).out).toBe(
    `The new secret, shown this once:\nwhsec_y\nThe one before signs too until ${AT}.\n`,
  );
  expect((await run('job-secret')).out).toBe('The new secret, shown this once:\nwhsec_z\n');
  expect((await run('test', ID)).out).toContain(`${SENT} is on its way`);
  expect((await run('remove', ID)).out).toBe(`${ID} is removed.\n`);
  expect(calls.at(-1)).toEqual({ call: `DELETE /v1/webhooks/${ID}`, body: null });
});

test('an action without what it is about is a usage error', async () => {
  expect((await run('replay')).err).toContain('webhooks replay needs a delivery.');
  expect((await run('list', ID)).err).toContain('webhooks list takes no further argument.');
  expect((await run('stop')).err).toContain('ACTION "stop" is not known.');
});
