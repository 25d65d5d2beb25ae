import { Webhook } from 'standardwebhooks';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { newId, toUuid } from '../../../db/ids.ts';
import { purgeProviderWebhookEvents } from '../../../db/provider-webhook-events.ts';
import { createWebhookVerifiers } from '../../../providers/webhooks.ts';
import { createLogger } from '../../../telemetry/logger.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const SECRET = `whsec_${Buffer.from('the secret of this test').toString('base64')}`;
const OPENAI = '/provider-webhooks/openai';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const log: string[] = [];
const providerWebhooks = createWebhookVerifiers({
  signedLikeOpenAi: new Map([
    ['openai', [SECRET]],
    ['mine', [SECRET]],
  ]),
  gemini: { secrets: [], jwks: null, audience: null },
});
const api = createTestApi(db, {
  providerWebhooks,
  logger: createLogger({ level: 'info', service: 'api', destination: { write: (line) => log.push(line) } }),
});
const caller = await api.caller();
beforeEach(() => {
  api.workflows.calls.length = 0;
  log.length = 0;
});

interface Sent {
  readonly id?: string;
  readonly type?: string;
  readonly batchId?: string;
  readonly shiftS?: number;
  readonly secret?: string;
}

function signed({ id = newId('event'), type = 'batch.completed', batchId, shiftS = 0, secret = SECRET }: Sent) {
  const body = JSON.stringify({ id: 'evt_1', object: 'event', created_at: 1, type, data: { id: batchId } });
  const timestampS = Math.floor(Date.now() / 1000) + shiftS;
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': new Webhook(secret).sign(id, new Date(timestampS * 1000), body),
  };
  return { headers, body };
}

async function post(path: string, { headers, body }: { headers: Record<string, string>; body: RequestInit['body'] }) {
  const init = { method: 'POST', headers, body: body ?? null, duplex: 'half' as const };
  const response = await api.app.request(path, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A running job whose shard 2 has a batch. */
async function runningBatch(provider = 'openai', column: 'ended_at' | 'closed_at' | null = null) {
  const jobId = await caller.submitted(1);
  const batchId = `batch_${newId('event')}`;
  await db.pool.query(
    `INSERT INTO batch_provider_metadata (job_id, shard, attempt, attempt_token, provider, provider_batch_id, endpoint, credential_id,
       native_status, item_count, create_outcome)
     VALUES ($1, 2, 1, $2, $3, $2, 'chat.completions', 'default', 'in_progress', 1, 'accepted')`,
    [toUuid('job', jobId), batchId, provider],
  );
  if (column !== null) {
    await db.pool.query(`UPDATE batch_provider_metadata SET ${column} = now() WHERE provider_batch_id = $1`, [batchId]);
  }
  api.workflows.calls.length = 0;
  return { jobId, batchId, woken: [['pollShard', jobId, 2]] };
}

async function knownEvents(): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>('SELECT count(*)::int FROM provider_webhook_events');
  return rows[0]?.count ?? 0;
}

test('a verified event wakes the shard of its batch, and changes no row of it', async () => {
  const { jobId, batchId, woken } = await runningBatch();
  const select = 'SELECT * FROM batch_provider_metadata WHERE provider_batch_id = $1';
  const before = await db.pool.query(select, [batchId]);
  const answer = await post(OPENAI, signed({ batchId }));
  expect(answer).toMatchObject({ status: 200, text: '{}' });
  expect(api.workflows.calls).toEqual(woken);
  expect((await db.pool.query(select, [batchId])).rows).toEqual(before.rows);
  expect((await caller.get(`/v1/batch-jobs/${jobId}`)).json.status).toBe('queued');
});

test('the line in the log names provider, type and outcome, and nothing that was sent', async () => {
  const { batchId } = await runningBatch();
  const event = signed({ batchId });
  log.length = 0;
  await post(OPENAI, event);
  await post(OPENAI, { ...event, headers: { ...event.headers, 'webhook-id': 'another' } });
  const lines = log.map((line) => JSON.parse(line));
  const line = { msg: 'request', route: '/provider-webhooks/:provider', provider: 'openai' };
  expect(lines).toMatchObject([
    { ...line, status: 200, event_type: 'batch.completed', outcome: 'signalled' },
    { ...line, status: 400, outcome: 'refused_signature' },
  ]);
  expect(lines[1]).not.toHaveProperty('event_type');
  for (const told of [batchId, event.headers['webhook-signature'], SECRET, 'created_at']) {
    expect(log.join('')).not.toContain(told);
  }
});

test('a repeated event is answered alike and wakes nobody, one after another and at once', async () => {
  const { batchId, woken } = await runningBatch();
  const event = signed({ batchId });
  const [first, second] = [await post(OPENAI, event), await post(OPENAI, event)];
  expect(second).toMatchObject({ status: first.status, text: first.text });
  expect(api.workflows.calls).toEqual(woken);
  const later = signed({ id: event.headers['webhook-id'], batchId, shiftS: 60 });
  const answers = await Promise.all([post(OPENAI, later), post(OPENAI, event), post(OPENAI, later)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(api.workflows.calls).toEqual(woken);
});

test('deliveries of one new event at the same moment leave one row', async () => {
  const { batchId } = await runningBatch();
  const event = signed({ batchId });
  const before = await knownEvents();
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(OPENAI, event)));
  expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(5).fill([200, '{}']));
  expect(await knownEvents()).toBe(before + 1);
});

test('events of one id from two providers are two', async () => {
  const [first, second] = [await runningBatch(), await runningBatch('mine')];
  const id = newId('event');
  await post(OPENAI, signed({ id, batchId: first.batchId }));
  await post('/provider-webhooks/mine', signed({ id, batchId: second.batchId }));
  expect(api.workflows.calls).toEqual([...first.woken, ...second.woken]);
});

test('a stranger cannot tell a batch that is unknown, over or another provider’s from one that was woken', async () => {
  const others = [
    { batchId: 'batch_unknown' },
    { batchId: (await runningBatch('openai', 'ended_at')).batchId },
    { batchId: (await runningBatch('openai', 'closed_at')).batchId },
    { batchId: (await runningBatch('mine')).batchId },
    { type: 'response.completed', batchId: (await runningBatch()).batchId },
  ];
  const outcomes = ['unknown_batch', 'batch_over', 'batch_over', 'unknown_batch', 'no_batch'];
  log.length = 0;
  for (const other of others) expect(await post(OPENAI, signed(other))).toMatchObject({ status: 200, text: '{}' });
  expect(log.map((line) => JSON.parse(line).outcome)).toEqual(outcomes);
  expect(api.workflows.calls).toEqual([]);
});

test.each([
  ['another secret', { secret: 'whsec_b3RoZXI=' }, /signature/],
  ['a time long past', { shiftS: -600 }, /five minutes/],
  ['a time to come', { shiftS: 600 }, /five minutes/],
])('an event with %s is refused, wakes nobody and is not remembered', async (_, sent, message) => {
  const { batchId, woken } = await runningBatch();
  const before = await knownEvents();
  const id = newId('event');
  const answer = await post(OPENAI, signed({ ...sent, id, batchId }));
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({
    error: 'webhook_signature_invalid',
    message: expect.stringMatching(message),
    request_id: answer.headers.get('x-request-id'),
  });
  expect(api.workflows.calls).toEqual([]);
  expect(await knownEvents()).toBe(before);
  expect((await post(OPENAI, signed({ id, batchId }))).status).toBe(200);
  expect(api.workflows.calls).toEqual(woken);
});

test('a body without the headers, and signed text that is no event, are refused', async () => {
  const { headers, body } = signed({});
  for (const sent of [
    { headers: {}, body },
    { headers, body: '' },
  ]) {
    const answer = await post(OPENAI, sent);
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 'webhook_signature_invalid']);
  }
});

test('a provider without a secret is a path that is not there', async () => {
  const nowhere = await post('/no-such-path', signed({}));
  for (const provider of ['gemini', 'anthropic', 'nobody', '%00']) {
    const answer = await post(`/provider-webhooks/${provider}`, { ...signed({}), body: 'x'.repeat(100_000) });
    const id = String(answer.headers.get('x-request-id'));
    expect(answer.status).toBe(404);
    expect(answer.text.replace(id, '')).toBe(nowhere.text.replace(String(nowhere.headers.get('x-request-id')), ''));
    expect([...answer.headers.keys()]).toEqual([...nowhere.headers.keys()]);
  }
});

test('a body of more than 64 kB is 413, whether its length is said or not', async () => {
  const { headers } = signed({});
  const chunk = new TextEncoder().encode(' '.repeat(40_000));
  const stream = () => ReadableStream.from([chunk, chunk]) as unknown as RequestInit['body'];
  for (const body of [' '.repeat(64 * 1024 + 1), stream()]) {
    const answer = await post(OPENAI, { headers, body });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([413, 'request_too_large']);
  }
});

test('while Temporal is away the answer is 503, and the repetition counts as the first', async () => {
  const { batchId, woken } = await runningBatch();
  const { pollShard } = api.workflows;
  const event = signed({ batchId });
  const before = await knownEvents();
  api.workflows.pollShard = async () => 'unreachable';
  const away = await post(OPENAI, event);
  api.workflows.pollShard = pollShard;
  expect([away.status, JSON.parse(away.text).error]).toEqual([503, 'dependency_unavailable']);
  expect(away.headers.get('retry-after')).toBe('5');
  expect(await knownEvents()).toBe(before);
  expect((await post(OPENAI, event)).status).toBe(200);
  expect(api.workflows.calls).toEqual(woken);
});

test('a shard whose workflow is gone is left to the sweep', async () => {
  const { batchId } = await runningBatch();
  const { pollShard } = api.workflows;
  api.workflows.pollShard = async () => 'not_running';
  const answer = await post(OPENAI, signed({ batchId }));
  api.workflows.pollShard = pollShard;
  expect(answer.status).toBe(200);
});

test('other methods are 405', async () => {
  const response = await api.app.request(OPENAI);
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
});

test('events are forgotten after a day and not before', async () => {
  await db.pool.query('DELETE FROM provider_webhook_events');
  await db.pool.query(
    `INSERT INTO provider_webhook_events (provider, event_id, received_at)
     VALUES ('openai', 'old', '2026-01-01T00:00:00Z'), ('openai', 'young', '2026-01-01T00:00:01Z')`,
  );
  expect(await purgeProviderWebhookEvents(db.pool, new Date('2026-01-02T00:00:00Z'))).toBe(1);
  const { rows } = await db.pool.query('SELECT event_id FROM provider_webhook_events');
  expect(rows).toEqual([{ event_id: 'young' }]);
});
