import { Webhook } from 'standardwebhooks';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../harness/postgres.ts';
import { answers, isSignedWith, startReceiver } from '../../harness/webhook-receiver.ts';
import { WebhookFixture } from './webhook-fixture.ts';

const { db, drop } = await createTestDatabase();
const receiver = await startReceiver();
afterAll(async () => {
  await receiver.close();
  await drop();
});

let webhooks: WebhookFixture;
beforeEach(() => {
  receiver.calls.length = 0;
  receiver.answer = answers(204);
  webhooks = new WebhookFixture(db);
});

const MINUTE_MS = 60_000;

async function delivery(more: Record<string, unknown> = {}, data: Record<string, unknown> = { status: 'completed' }) {
  const admin = await webhooks.admin();
  const { secret } = await webhooks.endpoint(admin, receiver.url, more);
  const [row] = await webhooks.tell(admin.tenantId, { data: data as never });
  return { admin, secret, ...(row ?? expect.unreachable()) };
}

test('W-01: every attempt has the same event id and the same bytes, and its own signed time', async () => {
  const { deliveryId, eventId, secret } = await delivery();
  receiver.answer = (response) => response.writeHead(receiver.calls.length < 3 ? 500 : 200).end();
  expect(await webhooks.deliver(deliveryId)).toMatchObject({ state: 'delivered' });
  expect(receiver.calls).toHaveLength(3);
  const [first = expect.unreachable()] = receiver.calls;
  for (const call of receiver.calls) {
    expect(call.headers['webhook-id']).toBe(eventId);
    expect(call.bytes.equals(first.bytes)).toBe(true);
    expect(isSignedWith(secret, call)).toBe(true);
  }
  expect(receiver.calls.map(({ headers }) => headers['webhook-attempt'])).toEqual(['1', '2', '3']);
  expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3);
});

test('W-02: the waits follow the growing schedule, then stop; the delivery is abandoned and can be replayed', async () => {
  const { admin, deliveryId } = await delivery();
  receiver.answer = answers(500);
  const { state, waitsMs } = await webhooks.deliver(deliveryId);
  expect(state).toBe('abandoned');
  const [first, second, third] = waitsMs;
  expect([first, second, third]).toEqual([5_000, 10_000, 20_000]);
  const grown = waitsMs.slice(0, -1);
  expect(grown.toSorted((a, b) => a - b)).toEqual(grown);
  expect(Math.max(...waitsMs)).toBe(60 * MINUTE_MS);
  expect(waitsMs.reduce((sum, ms) => sum + ms)).toBe(24 * 60 * MINUTE_MS);
  const [row] = await webhooks.deliveries(admin.tenantId);
  expect(row).toMatchObject({ state: 'abandoned', error: 'bad_status', statusCode: 500, nextAttemptAt: null });
});

test('W-04: the signature is of the transmitted bytes, with their id and time', async () => {
  const data = {
    status: 'completed',
    custom_ids: ['zeile_ä', '行_1', '🙂'],
    nested: { deep: [1, 2.5, 1e21, { zero: 0, minus: -0.1 }] },
  };
  const { deliveryId, secret } = await delivery({}, data);
  await webhooks.deliver(deliveryId);
  const [call = expect.unreachable()] = receiver.calls;
  const verifier = new Webhook(secret);
  const event = verifier.verify(call.bytes, call.headers);
  expect(event).toEqual({ type: 'batch_job.completed', timestamp: expect.stringMatching(/Z$/), data });
  const changed = Buffer.from(call.bytes.toString().replace('2.5', '2.50'));
  expect(() => verifier.verify(changed, call.headers)).toThrow('No matching signature');
  expect(() => verifier.verify(call.bytes, { ...call.headers, 'webhook-id': 'evt_1' })).toThrow(
    'No matching signature',
  );
  const late = String(Number(call.headers['webhook-timestamp']) + 1);
  expect(() => verifier.verify(call.bytes, { ...call.headers, 'webhook-timestamp': late })).toThrow('No matching');
});

test('a receiver that is down for 20 minutes gets its event once it is up', async () => {
  const { deliveryId } = await delivery({ give_up_after_seconds: 1_800 });
  const upAt = webhooks.clockMs + 20 * MINUTE_MS;
  receiver.answer = (response) => response.writeHead(webhooks.clockMs < upAt ? 503 : 200).end();
  expect(await webhooks.deliver(deliveryId)).toMatchObject({ state: 'delivered' });
  // Not long after, either: no wait is longer than a sixth of the half hour.
  expect(webhooks.clockMs).toBeLessThan(upAt + 6 * MINUTE_MS);
});

test('one that is down for 40 minutes is given up after its half hour, and a replay brings the event', async () => {
  const { admin, deliveryId, eventId } = await delivery({ give_up_after_seconds: 1_800 });
  const startMs = webhooks.clockMs;
  receiver.answer = answers(503);
  expect(await webhooks.deliver(deliveryId)).toMatchObject({ state: 'abandoned' });
  expect(webhooks.clockMs).toBe(startMs + 30 * MINUTE_MS);
  const sent = receiver.calls.length;
  webhooks.clockMs = startMs + 40 * MINUTE_MS;
  receiver.answer = answers(200);
  expect(await webhooks.deliver(deliveryId)).toEqual({ state: 'abandoned', waitsMs: [] });
  expect(receiver.calls).toHaveLength(sent);
  await webhooks.replay(admin, deliveryId);
  expect(await webhooks.deliver(deliveryId)).toEqual({ state: 'delivered', waitsMs: [] });
  const last = receiver.calls.at(-1);
  expect(last?.headers).toMatchObject({ 'webhook-id': eventId, 'webhook-attempt': '1' });
  expect(last?.bytes).toEqual(receiver.calls[0]?.bytes);
});
