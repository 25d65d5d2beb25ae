import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deleteDueContent } from '../../../activities/due-content.ts';
import type { DeliveryRow } from '../../../db/webhook-deliveries.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import type { ApiCaller } from '../../harness/api.ts';
import { columnsWith } from '../../harness/columns-with.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { answers, isSignedWith, startReceiver, type WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { WebhookFixture } from '../webhooks/webhook-fixture.ts';
import { TASKS, TaskFixture } from './task-fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const { db, drop } = await createTestDatabase();
afterAll(drop);
const tasks = new TaskFixture(db);
const webhooks = new WebhookFixture(db);
const { api } = tasks;

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startReceiver();
  return () => receiver.close();
});

let tenantId: string;
let caller: ApiCaller;
let secret: string;
beforeEach(async () => {
  receiver.calls.length = 0;
  receiver.answer = answers(204);
  tenantId = await api.tenant();
  caller = await api.caller('tenant_admin', { tenantId });
  secret = (await caller.post('/v1/webhooks/job-secret/rotate')).json.secret;
  webhooks.clockMs = tasks.clockMs;
});

/** The one delivery of a tenant. */
async function onlyDelivery(): Promise<DeliveryRow> {
  const deliveries = await webhooks.deliveries(tenantId);
  expect(deliveries).toHaveLength(1);
  const [delivery] = deliveries;
  if (delivery === undefined) throw new Error('no delivery');
  return delivery;
}

async function deliver(): Promise<{ state: string; waitsMs: number[] }> {
  webhooks.clockMs = tasks.clockMs;
  const ended = await webhooks.deliver((await onlyDelivery()).deliveryId);
  tasks.clockMs = webhooks.clockMs;
  return ended;
}

async function ended(prompt?: string): Promise<string> {
  const id = await tasks.post(caller, { webhookUrl: receiver.url }, prompt);
  await tasks.attempt(id);
  return id;
}

async function runRetention(): Promise<void> {
  await runActivity(() => deleteDueContent({ ...testDependencies(db), now: tasks.now }), undefined);
}

describe('the webhook of a task is called at its end', () => {
  test('with {type, timestamp, data: the task as GET shows it}, signed', async () => {
    const id = await ended();
    expect(await deliver()).toEqual({ state: 'delivered', waitsMs: [] });
    const [call] = receiver.calls;
    if (call === undefined) throw new Error('no call');
    expect(isSignedWith(secret, call)).toBe(true);
    const { type, timestamp, data } = JSON.parse(call.bytes.toString());
    expect(type).toBe('task.completed');
    expect(Date.parse(timestamp)).not.toBeNaN();
    expect(data).toEqual((await caller.get(`${TASKS}/${id}`)).json);
    expect(data.response.text).toBe('Paris');
  });

  test.each(['pointers', 'hashes'])('under %s too', async (storage) => {
    await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, JSON.stringify({ storage })]);
    const id = await ended();
    await deliver();
    const { data } = JSON.parse(receiver.calls[0]?.bytes.toString() ?? '{}');
    expect(data).toEqual((await caller.get(`${TASKS}/${id}`)).json);
    expect(data).toMatchObject({ payload: null, response: { text: 'Paris' }, content: 'not_stored' });
  });

  test('also when it failed, and when it was cancelled', async () => {
    const id = await tasks.post(caller, { webhookUrl: receiver.url });
    await caller.call('DELETE', `${TASKS}/${id}`);
    await tasks.attempt(id);
    await deliver();
    const told = JSON.parse(receiver.calls[0]?.bytes.toString() ?? '{}');
    expect(told).toMatchObject({ type: 'task.failed', data: { id, status: 'FAILED', error: { code: 'CANCELLED' } } });
    expect(told.data).toEqual((await caller.get(`${TASKS}/${id}`)).json);
  });

  test('endpoints of the tenant are told too', async () => {
    await caller.post('/v1/webhooks', { url: receiver.url });
    const id = await tasks.post(caller);
    await tasks.attempt(id);
    await deliver();
    expect(JSON.parse(receiver.calls[0]?.bytes.toString() ?? '{}').data.id).toBe(id);
  });

  test('it is retried for about 30 minutes with the same id and bytes, then given up', async () => {
    receiver.answer = answers(500);
    await ended();
    const { state, waitsMs } = await deliver();
    expect(state).toBe('abandoned');
    const total = waitsMs.reduce((sum, wait) => sum + wait, 0);
    expect(total).toBeGreaterThanOrEqual(30 * MINUTE_MS - 1_000);
    expect(total).toBeLessThan(35 * MINUTE_MS);
    expect(waitsMs.length).toBeGreaterThan(5);
    expect(new Set(receiver.calls.map(({ bytes }) => bytes.toString())).size).toBe(1);
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });
});

describe('what a webhook carries is content', () => {
  test('which lies sealed, and is in no event', async () => {
    await ended('question-7f3a');
    const holding = await columnsWith(db, 'question-7f3a');
    expect(holding.filter((column) => !column.startsWith('item_requests'))).toEqual([]);
    const { rows } = await db.pool.query('SELECT data FROM events WHERE tenant_id = $1', [tenantId]);
    expect(rows).toEqual([{ data: { task_id: expect.stringMatching(/^task_/), status: 'COMPLETED' } }]);
    await deliver();
    expect(receiver.calls[0]?.bytes.toString()).toContain('question-7f3a');
  });

  test('and goes with the content of its task: neither sent nor replayed from then on', async () => {
    const id = await ended();
    await deliver();
    const delivery = await onlyDelivery();
    await db.pool.query('UPDATE batch_jobs SET content_retention_ms = $2 WHERE tenant_id = $1', [tenantId, HOUR_MS]);
    tasks.clockMs += 2 * HOUR_MS;
    await runRetention();
    expect((await onlyDelivery()).hasBody).toBe(false);
    for (const path of [`${TASKS}/${id}/webhook/replay`, `/v1/webhooks/deliveries/${delivery.deliveryId}/replay`]) {
      const answer = await caller.post(path);
      expect([answer.status, answer.text]).toEqual([410, expect.stringMatching(/content_deleted|CONTENT_DELETED/)]);
    }
    await db.pool.query("UPDATE webhook_deliveries SET state = 'pending', ended_at = NULL WHERE tenant_id = $1", [
      tenantId,
    ]);
    expect(await webhooks.attempt(delivery.deliveryId)).toEqual({ kind: 'over', state: 'abandoned' });
    expect((await onlyDelivery()).error).toBe('content_deleted');
    expect(receiver.calls).toHaveLength(1);
  });

  test.each(['pointers', 'hashes'])('under %s it goes with the read window, unless it is held', async (storage) => {
    await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, { storage }]);
    await ended();
    await deliver();
    tasks.clockMs += 24 * HOUR_MS - 1_000;
    await runRetention();
    expect((await onlyDelivery()).hasBody).toBe(true);
    tasks.clockMs += 2_000;
    await db.pool.query(
      "INSERT INTO legal_holds (hold_id, tenant_id, reason, set_by, set_at) VALUES ($1, $2, 'case', 'test', now())",
      [`hold_${storage}`, tenantId],
    );
    await runRetention();
    expect((await onlyDelivery()).hasBody).toBe(true);
    await db.pool.query("UPDATE legal_holds SET lifted_at = now(), lifted_by = 'test' WHERE tenant_id = $1", [
      tenantId,
    ]);
    await runRetention();
    expect((await onlyDelivery()).hasBody).toBe(false);
  });
});

describe('POST /v1/async/task/{id}/webhook/replay', () => {
  test('sends what was delivered or given up once more: 202, the same id and bytes', async () => {
    const id = await ended();
    await deliver();
    const headers = { 'idempotency-key': 'again' };
    const answer = await caller.post(`${TASKS}/${id}/webhook/replay`, undefined, headers);
    const { deliveryId: delivery, eventId } = await onlyDelivery();
    expect([answer.status, answer.json]).toEqual([
      202,
      {
        id,
        deliveries: [
          { id: delivery, eventId, url: receiver.url, status: 'pending', nextAttemptAt: tasks.now().toISOString() },
        ],
      },
    ]);
    expect((await caller.post(`${TASKS}/${id}/webhook/replay`, undefined, headers)).text).toBe(answer.text);
    await deliver();
    const [first, second] = receiver.calls;
    expect(second?.bytes).toEqual(first?.bytes);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    const { rows } = await db.pool.query(
      "SELECT subject FROM audit_log WHERE act = 'webhook_delivery.replayed' AND tenant_id = $1",
      [tenantId],
    );
    expect(rows).toEqual([{ subject: delivery }]);
  });

  test('is refused while the task is open, while it is tried, and where there is none', async () => {
    const open = await tasks.post(caller, { webhookUrl: receiver.url });
    const refusal = async (id: string) => (await caller.post(`${TASKS}/${id}/webhook/replay`)).json.error;
    expect(await refusal(open)).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('QUEUED') });
    await tasks.attempt(open);
    expect(await refusal(open)).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('still being tried'),
    });
    const none = await tasks.post(caller);
    await tasks.attempt(none);
    expect(await refusal(none)).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('no webhook') });
  });

  test.each(['raw', 'hashes'])(
    'ends 24 hours after the end, by the task and by the delivery alike; automatic retries go on regardless (%s)',
    async (storage) => {
      await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [
        tenantId,
        JSON.stringify({ storage }),
      ]);
      await caller.post('/v1/webhooks', { url: receiver.url, give_up_after_seconds: 48 * 3_600 });
      const id = await tasks.post(caller);
      await tasks.attempt(id);
      receiver.answer = answers(500);
      tasks.clockMs += 24 * HOUR_MS + 1_000;
      webhooks.clockMs = tasks.clockMs;
      await runRetention();
      const { deliveryId } = await onlyDelivery();
      expect(await webhooks.attempt(deliveryId)).toMatchObject({ kind: 'again' });
      receiver.answer = answers(204);
      expect(await webhooks.attempt(deliveryId)).toEqual({ kind: 'over', state: 'delivered' });
      expect((await caller.post(`${TASKS}/${id}/webhook/replay`)).status).toBe(404);
      const byDelivery = await caller.post(`/v1/webhooks/deliveries/${deliveryId}/replay`);
      expect([byDelivery.status, byDelivery.json.error]).toEqual([409, 'conflict']);
    },
  );
});
