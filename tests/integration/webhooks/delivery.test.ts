import { afterAll, beforeEach, expect, test } from 'vitest';
import { findDelivery, listAttempts } from '../../../db/webhook-deliveries.ts';
import { createKeyRing, KEY_BYTES } from '../../../encryption/key-ring.ts';
import { eventually } from '../../harness/eventually.ts';
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

async function delivery(url = receiver.url) {
  const admin = await webhooks.admin();
  const endpoint = await webhooks.endpoint(admin, url);
  const [row = expect.unreachable()] = await webhooks.tell(admin.tenantId);
  const read = () => findDelivery(db.pool, { ...admin, tenantId: admin.tenantId }, row.deliveryId);
  return { admin, ...endpoint, deliveryId: row.deliveryId, read };
}

test('a delivery is told with its attempts: time, status, error and duration, nothing of the answer', async () => {
  const { deliveryId, read } = await delivery();
  receiver.answer = (response) => response.writeHead(receiver.calls.length === 1 ? 500 : 200).end('secret words');
  await webhooks.deliver(deliveryId);
  expect(await read()).toMatchObject({ state: 'delivered', attempts: 2, statusCode: 200, error: null });
  const tried = { startedAt: expect.any(Date), durationMs: expect.any(Number), run: 1 };
  expect(await listAttempts(db.pool, deliveryId)).toEqual([
    { ...tried, attempt: 1, statusCode: 500, error: 'bad_status' },
    { ...tried, attempt: 2, statusCode: 200, error: null },
  ]);
  const { rows } = await db.pool.query(
    'SELECT d::text || a::text AS text FROM webhook_deliveries d, webhook_attempts a',
  );
  expect(JSON.stringify(rows)).not.toContain('secret words');
});

test('410 disables the endpoint, says so in the audit log, and gives its deliveries up', async () => {
  const { admin, endpointId, deliveryId, read } = await delivery();
  const [second = expect.unreachable()] = await webhooks.tell(admin.tenantId);
  receiver.answer = answers(410);
  expect(await webhooks.deliver(deliveryId)).toEqual({ state: 'abandoned', waitsMs: [] });
  expect(await read()).toMatchObject({ error: 'gone', statusCode: 410, endpointState: 'disabled' });
  const { rows } = await db.pool.query('SELECT act, actor, details FROM audit_log WHERE subject = $1', [endpointId]);
  expect(rows.at(-1)).toMatchObject({
    act: 'webhook_endpoint.changed',
    actor: 'gateway',
    details: { disabled: 'gone' },
  });
  expect(await webhooks.deliver(second.deliveryId)).toEqual({ state: 'abandoned', waitsMs: [] });
  expect(receiver.calls).toHaveLength(1);
  expect(await webhooks.tell(admin.tenantId)).toHaveLength(2);
  await expect(webhooks.replay(admin, deliveryId)).rejects.toMatchObject({ code: 'conflict' });
});

test('Retry-After is kept to within an hour, and never shortens a wait', async () => {
  const { deliveryId } = await delivery();
  for (const [asked, waitMs] of [
    ['120', 120_000],
    ['1', 10_000],
    ['999999', 3_600_000],
  ] as const) {
    receiver.answer = answers(429, { 'retry-after': asked });
    expect(await webhooks.attempt(deliveryId)).toEqual({ kind: 'again', delayMs: waitMs });
  }
});

test('a redirect is not followed, and counts as a failure', async () => {
  const { deliveryId, read } = await delivery();
  receiver.answer = answers(307, { location: receiver.url });
  expect(await webhooks.attempt(deliveryId)).toMatchObject({ kind: 'again' });
  expect(receiver.calls).toHaveLength(1);
  expect(await read()).toMatchObject({ error: 'bad_status', statusCode: 307 });
});

test('after a rotation both secrets sign until the time of the first is over', async () => {
  const { admin, endpointId, deliveryId, secret } = await delivery();
  const fresh = await webhooks.rotate(admin, endpointId, 60);
  receiver.answer = answers(500);
  await webhooks.attempt(deliveryId);
  webhooks.clockMs += 60_000;
  await webhooks.attempt(deliveryId);
  const [during = expect.unreachable(), after = expect.unreachable()] = receiver.calls;
  expect([isSignedWith(secret, during), isSignedWith(fresh, during)]).toEqual([true, true]);
  expect([isSignedWith(secret, after), isSignedWith(fresh, after)]).toEqual([false, true]);
  const { rows } = await db.pool.query('SELECT * FROM webhook_secrets');
  for (const shown of [secret, fresh]) {
    const raw = Buffer.from(shown.slice('whsec_'.length), 'base64');
    for (const row of rows) expect(Buffer.from(row.sealed).includes(raw)).toBe(false);
  }
});

test('a secret that cannot be opened any more is told as such, and waited for', async () => {
  const { deliveryId, read } = await delivery();
  const cipher = createKeyRing([{ id: 'other', key: Buffer.alloc(KEY_BYTES, 1) }]);
  expect(await new WebhookFixture(db, { cipher }).attempt(deliveryId)).toMatchObject({ kind: 'again' });
  expect(await read()).toMatchObject({ error: 'secret_unavailable' });
  expect(await webhooks.attempt(deliveryId)).toMatchObject({ kind: 'over', state: 'delivered' });
});

test('an address that has become a private one is not called', async () => {
  const { deliveryId, read } = await delivery();
  webhooks = new WebhookFixture(db, { allowedFetchHosts: new Set() });
  await db.pool.query("UPDATE webhook_endpoints SET url = replace(url, 'http:', 'https:')");
  expect(await webhooks.attempt(deliveryId)).toMatchObject({ kind: 'again' });
  expect(await read()).toMatchObject({ error: 'refused_address' });
  expect(receiver.calls).toEqual([]);
});

test('a slow receiver is cut off, and one that nobody answers at is unreachable', async () => {
  const slow = await delivery();
  receiver.answer = () => undefined;
  webhooks = new WebhookFixture(db, { answerMs: 50 });
  await webhooks.attempt(slow.deliveryId);
  expect(await slow.read()).toMatchObject({ error: 'timed_out', statusCode: null, state: 'pending' });
  const away = await delivery('http://127.0.0.1:1/hook');
  await webhooks.attempt(away.deliveryId);
  expect(await away.read()).toMatchObject({ error: 'unreachable' });
});

test('a receiver that hangs keeps four requests and no more, and delays nobody else', async () => {
  const hanging = await startReceiver();
  hanging.answer = () => undefined;
  try {
    const admin = await webhooks.admin();
    await webhooks.endpoint(admin, hanging.url);
    for (let event = 0; event < 5; event += 1) await webhooks.tell(admin.tenantId);
    const rows = await webhooks.deliveries(admin.tenantId);
    const ids = rows.map(({ deliveryId }) => deliveryId);
    const [last = expect.unreachable(), ...first] = ids;
    const held = Promise.all(first.map((id) => webhooks.attempt(id)));
    await eventually(() => hanging.calls.length === 4);
    expect(await webhooks.attempt(last)).toEqual({ kind: 'again', delayMs: 1_000 });
    expect(await webhooks.attempt(last)).toEqual({ kind: 'again', delayMs: 2_000 });
    expect(hanging.calls).toHaveLength(4);
    const other = await delivery();
    expect(await webhooks.deliver(other.deliveryId)).toEqual({ state: 'delivered', waitsMs: [] });
    // The same tenant's other receivers are not held up either.
    await webhooks.endpoint(admin, receiver.url);
    const [mine] = await webhooks.tell(admin.tenantId, { type: 'batch_job.failed' });
    const toOther = (await webhooks.deliveries(admin.tenantId)).filter(({ url }) => url === receiver.url);
    expect(mine).toBeDefined();
    for (const { deliveryId } of toOther) expect((await webhooks.deliver(deliveryId)).state).toBe('delivered');
    await hanging.close();
    expect(await held).toHaveLength(4);
    webhooks.clockMs += 60_000;
    expect(await webhooks.attempt(last)).toMatchObject({ kind: 'again' });
    expect((await listAttempts(db.pool, last)).at(-1)).toMatchObject({ attempt: 1, error: 'unreachable' });
  } finally {
    await hanging.close().catch(() => undefined);
  }
});

test('a delivery that is over is not sent again, and one that is gone ends', async () => {
  const { deliveryId } = await delivery();
  await webhooks.deliver(deliveryId);
  expect(await webhooks.attempt(deliveryId)).toEqual({ kind: 'over', state: 'delivered' });
  expect(receiver.calls).toHaveLength(1);
  expect(await webhooks.attempt('whd_unknown')).toEqual({ kind: 'over', state: 'deleted' });
});
