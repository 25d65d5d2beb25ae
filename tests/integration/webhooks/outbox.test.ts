import { Webhook } from 'standardwebhooks';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { insertEvent } from '../../../db/events.ts';
import { toUuid } from '../../../db/ids.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { takeUndispatched } from '../../../db/webhook-deliveries.ts';
import { dispatchWebhooks } from '../../../worker/webhook-dispatcher.ts';
import { testDependencies } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { answers, startReceiver } from '../../harness/webhook-receiver.ts';
import { findings, sweeper } from '../sweeps/sweep-fixture.ts';
import { WebhookFixture } from './webhook-fixture.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

let webhooks: WebhookFixture;
beforeEach(async () => {
  webhooks = new WebhookFixture(db);
  await db.pool.query("UPDATE webhook_deliveries SET state = 'abandoned', ended_at = now() WHERE state = 'pending'");
});

const URL = 'http://127.0.0.1:1/hook';

async function typesTold(tenantId: string, endpointId: string): Promise<string[]> {
  const rows = await webhooks.deliveries(tenantId);
  return rows
    .filter((row) => row.endpointId === endpointId)
    .map(({ eventType }) => eventType)
    .toSorted();
}

test('a delivery is there exactly when its event is', async () => {
  const admin = await webhooks.admin();
  await webhooks.endpoint(admin, URL);
  const failing = inTransaction(db, async (client) => {
    await insertEvent(client, { tenantId: admin.tenantId, jobId: null, type: 'budget.alert', data: {} });
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await webhooks.deliveries(admin.tenantId)).toEqual([]);
  const [row] = await webhooks.tell(admin.tenantId, { type: 'budget.alert' });
  expect(row).toMatchObject({ eventType: 'budget.alert', state: 'pending', attempts: 0 });
});

test('an event that commits after later ones is dispatched all the same', async () => {
  const admin = await webhooks.admin();
  await webhooks.endpoint(admin, URL);
  const written = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const slow = inTransaction(db, async (client) => {
    await insertEvent(client, { tenantId: admin.tenantId, jobId: null, type: 'batch_job.queued', data: {} });
    written.resolve();
    await mayCommit.promise;
  });
  await written.promise;
  await webhooks.tell(admin.tenantId, { type: 'batch_job.running' });
  expect(await takeUndispatched(db.pool, new Date(), 10)).toMatchObject([{ eventType: 'batch_job.running' }]);
  mayCommit.resolve();
  await slow;
  expect(await takeUndispatched(db.pool, new Date(), 10)).toMatchObject([{ eventType: 'batch_job.queued' }]);
  expect(await takeUndispatched(db.pool, new Date(), 10)).toEqual([]);
});

test('an endpoint is told of the types it takes; a difference in the ledger only by name', async () => {
  const admin = await webhooks.admin();
  const { endpointId: all } = await webhooks.endpoint(admin, URL);
  const { endpointId: some } = await webhooks.endpoint(admin, URL, {
    event_types: ['batch_job.failed', 'ledger.difference'],
  });
  for (const type of ['batch_job.completed', 'batch_job.failed', 'ledger.difference'])
    await webhooks.tell(admin.tenantId, { type });
  expect(await typesTold(admin.tenantId, all)).toEqual(['batch_job.completed', 'batch_job.failed']);
  expect(await typesTold(admin.tenantId, some)).toEqual(['batch_job.failed', 'ledger.difference']);
});

test('another tenant is told of nothing, a project of its own jobs and budgets', async () => {
  const admin = await webhooks.admin();
  const stranger = await webhooks.admin();
  const { tenantId } = admin;
  await db.pool.query(
    "INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web'), ($1, 'app', 'App')",
    [tenantId],
  );
  await webhooks.endpoint(stranger, URL);
  const { endpointId } = await webhooks.endpoint(admin, URL, { project_id: 'web' });
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobs = [
    await caller.draft(1, { project_id: 'web' }),
    await caller.draft(1, { project_id: 'app' }),
    await caller.draft(1),
  ];
  for (const job of jobs)
    await webhooks.tell(tenantId, { jobId: toUuid('job', job), type: 'batch_job.completed', data: { job_id: job } });
  for (const projectId of ['web', 'app', null]) await webhooks.tell(tenantId, { projectId, type: 'budget.alert' });
  const rows = (await webhooks.deliveries(tenantId)).filter((row) => row.endpointId === endpointId);
  expect(rows.map(({ eventType, subjectId }) => [eventType, subjectId])).toEqual([
    ['budget.alert', null],
    ['batch_job.completed', jobs[0]],
  ]);
  expect(await webhooks.deliveries(stranger.tenantId)).toEqual([]);
});

test('the webhook of a job is told of this job alone, signed with the secret of the key that made it', async () => {
  const receiver = await startReceiver();
  receiver.answer = answers(200);
  try {
    const caller = await api.caller();
    const wish = { url: receiver.url, event_types: ['batch_job.validating', 'batch_job.cancelled'] };
    const job = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', webhook: wish };
    expect((await caller.post('/v1/batch-jobs', job)).json).toMatchObject({ error: 'webhook_secret_missing' });
    const { json: made } = await caller.post('/v1/webhooks/job-secret/rotate', {});
    const jobId = await caller.submitted(1, { webhook: wish });
    await caller.submitted(1);
    const { json: list } = await caller.get('/v1/webhooks/deliveries');
    expect(list.data).toMatchObject([
      { job_id: jobId, event_type: 'batch_job.validating', endpoint_id: null, url: receiver.url },
    ]);
    await webhooks.deliver(list.data[0].delivery_id);
    const [call = expect.unreachable()] = receiver.calls;
    expect(new Webhook(made.secret).verify(call.bytes, call.headers)).toMatchObject({ data: { job_id: jobId } });
  } finally {
    await receiver.close();
  }
});

test('the dispatcher starts each delivery once; those it cannot start are there for the next look', async () => {
  const admin = await webhooks.admin();
  await webhooks.endpoint(admin, URL);
  await webhooks.tell(admin.tenantId);
  await webhooks.tell(admin.tenantId);
  const started: string[] = [];
  const dependencies = testDependencies(db, {
    deliveries: { start: async ({ deliveryId }) => started.push(deliveryId) > 0 },
  });
  const away = testDependencies(db, { deliveries: { start: () => Promise.reject(new Error('away')) } });
  await expect(dispatchWebhooks(away)).rejects.toThrow('away');
  const counts = await Promise.all([dispatchWebhooks(dependencies), dispatchWebhooks(dependencies)]);
  expect(counts.reduce((sum, count) => sum + count)).toBe(2);
  expect(new Set(started).size).toBe(2);
  expect(await dispatchWebhooks(dependencies)).toBe(0);
});

test('the sweep starts a delivery that nobody came for, and raises one that waking did not help', async () => {
  const admin = await webhooks.admin();
  await webhooks.endpoint(admin, URL);
  const [row = expect.unreachable()] = await webhooks.tell(admin.tenantId);
  const clock = { ms: Date.now() };
  const runs = { none: true };
  const sweep = sweeper(db, {
    now: () => new Date(clock.ms),
    deliveries: { start: async () => runs.none },
  });
  expect(await sweep('sweepWebhooks')).toMatchObject({ looked: 0 });
  clock.ms += 3 * 60_000;
  expect(await sweep('sweepWebhooks')).toMatchObject({ looked: 1, repaired: 1, raised: 0 });
  runs.none = false;
  expect(await sweep('sweepWebhooks')).toMatchObject({ looked: 1, repaired: 0, raised: 1 });
  expect(await findings(db)).toMatchObject([
    { kind: 'webhook_undelivered', subject: row.deliveryId, tenantId: admin.tenantId, times: 2, outcome: 'raised' },
  ]);
});

test('deliveries are kept for thirty days after their end, with the events that are under way', async () => {
  const admin = await webhooks.admin();
  await webhooks.endpoint(admin, URL);
  const rows = [await webhooks.tell(admin.tenantId), await webhooks.tell(admin.tenantId)];
  const [old] = rows[0] ?? [];
  await db.pool.query(
    "UPDATE webhook_deliveries SET state = 'delivered', ended_at = now() - interval '31 days' WHERE delivery_id = $1",
    [old?.deliveryId],
  );
  await sweeper(db)('tidyTables');
  const left = await webhooks.deliveries(admin.tenantId);
  expect(left.map(({ deliveryId }) => deliveryId)).not.toContain(old?.deliveryId);
  expect(left).toHaveLength(1);
});
