import { afterAll, expect, test } from 'vitest';
import { setCustomerPricing } from '../../../db/customer-pricing.ts';
import { chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endJob, settleItems } from '../../harness/settled-items.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

const FAILURE = { class: 'provider_error', code: 'provider_server_error', message: 'failed' };
const TODAY = new Date().toISOString().slice(0, 10);
const DAY_MS = 24 * 3_600_000;
const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);

/** A tenant with a project's job of three items, one open, and a customer's ended job of two. */
async function twoJobs() {
  const tenantId = await api.tenant();
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web')", [tenantId]);
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'cust_1', 'One')", [tenantId]);
  const caller = await api.caller('tenant_admin', { tenantId });
  const open = await caller.submitted(3, { project_id: 'web' });
  await settleItems(db, open, [{ itemNo: 1 }, { itemNo: 2, state: 'failed', amount: '0', failure: FAILURE }]);
  const ended = await caller.submitted(2, { customer_id: 'cust_1' });
  await settleItems(db, ended, [
    { itemNo: 1, amount: '0.25' },
    { itemNo: 2, amount: '0.25' },
  ]);
  await endJob(db, ended);
  return { tenantId, caller, open, ended };
}

test('items are counted by how they ended, those still open among them', async () => {
  const { caller } = await twoJobs();
  const { status, json } = await caller.get('/v1/analytics/items');
  expect([status, json.from, json.to]).toEqual([200, null, null]);
  const counts = { completed: 3, failed: 1, expired: 0, cancelled: 0, pending: 1, total: 5, retries: 0 };
  expect(json.data).toEqual([{ group: {}, ...counts }]);
  const byDay = await caller.get('/v1/analytics/items?group_by=project,day');
  expect(byDay.json.data).toMatchObject([
    { group: { project: 'web', day: TODAY }, completed: 1, failed: 1, pending: 0 },
    { group: { project: 'web', day: null }, completed: 0, pending: 1 },
    { group: { project: null, day: TODAY }, completed: 2, pending: 0 },
  ]);
});

test('what is settled is told for days, what ended against its estimate, what is held as of now', async () => {
  const { caller } = await twoJobs();
  const [{ estimated }] = (
    await db.pool.query(
      'SELECT estimated_amount::text AS estimated FROM batch_jobs WHERE completed_at IS NOT NULL ORDER BY created_at DESC LIMIT 1',
    )
  ).rows;
  const { json } = await caller.get('/v1/analytics/costs');
  const [costs] = json.data;
  expect(costs).toMatchObject({
    currency: 'USD',
    settled: '1.00',
    refunded: '0.00',
    ended_jobs: 1,
    ended_settled: '0.50',
  });
  expect(Number(costs.estimated)).toBe(Number(estimated));
  expect(Number(costs.error)).toBeCloseTo(0.5 - Number(estimated), 12);
  expect(costs.error_ratio).toBeGreaterThan(1);
  expect(Number(costs.held)).toBeGreaterThan(0);
  const before = await caller.get(`/v1/analytics/costs?to=${TODAY}`);
  expect(before.json.data).toMatchObject([{ settled: '0.00', ended_jobs: 0, held: costs.held, error_ratio: null }]);
});

test('tokens and cache hits go by provider and model', async () => {
  const { caller } = await twoJobs();
  const group = { provider: 'openai', model: 'gpt-4o-mini' };
  expect((await caller.get('/v1/analytics/tokens')).json.data).toEqual([
    {
      group,
      items: 4,
      usage_estimated_items: 0,
      input_tokens: 40,
      cached_input_tokens: 8,
      cache_write_tokens: 4,
      output_tokens: 20,
      reasoning_tokens: 12,
    },
  ]);
  expect((await caller.get('/v1/analytics/cache')).json.data).toEqual([
    { group, input_tokens: 40, cached_input_tokens: 8, cache_write_tokens: 4, hit_rate: 0.2 },
  ]);
  expect((await caller.get('/v1/analytics/cache?group_by=')).json.data).toMatchObject([{ group: {}, hit_rate: 0.2 }]);
});

test('retries and their success are told apart', async () => {
  const { caller } = await twoJobs();
  expect((await caller.get('/v1/analytics/retries')).json.data).toEqual([]);
  await db.pool.query('UPDATE job_rollups SET is_retry = true');
  expect((await caller.get('/v1/analytics/retries')).json.data).toEqual([
    { group: {}, retries: 4, completed: 3, failed: 1, expired: 0, cancelled: 0, success_rate: 0.75 },
  ]);
});

test('failures of items and refusals of submissions are listed by endpoint and model, or by customer', async () => {
  const { caller } = await twoJobs();
  const refused = await caller.draft(0, { customer_id: 'cust_1' });
  const stream = chatItem('row_1');
  await caller.post(`/v1/batch-jobs/${refused}/items`, {
    items: [{ ...stream, request: { ...stream.request, stream: true } }],
  });
  expect((await caller.post(`/v1/batch-jobs/${refused}/submit`)).status).toBe(422);
  expect((await caller.post(`/v1/batch-jobs/${refused}/submit`)).status).toBe(422);
  const { json } = await caller.get('/v1/analytics/failures');
  expect(json.data).toEqual([
    {
      group: { endpoint: 'chat.completions', model: 'gpt-4o-mini' },
      class: 'provider_error',
      code: 'provider_server_error',
      items: 1,
    },
  ]);
  const refusal = { code: 'batch_capability_not_supported', submissions: 2, items: 2 };
  expect(json.refusals).toEqual([{ group: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' }, ...refusal }]);
  await caller.call('DELETE', `/v1/batch-jobs/${refused}`);
  const byCustomer = await caller.get('/v1/analytics/failures?group_by=customer&top=1');
  expect(byCustomer.json.data).toMatchObject([{ group: { customer: null }, items: 1 }]);
  expect(byCustomer.json.refusals).toEqual([{ group: { customer: 'cust_1' }, ...refusal }]);
  const tomorrow = await caller.get(`/v1/analytics/failures?from=${day(1)}`);
  expect([tomorrow.json.data, tomorrow.json.refusals]).toEqual([[], []]);
});

test('durations are those of ended jobs, or of their shards', async () => {
  const { caller, ended } = await twoJobs();
  await db.pool.query(
    `UPDATE stage_times SET stage = NULL, ended_at = now(), queued_ms = 1500, running_ms = 60000 WHERE shard = 0 AND job_id IN
       (SELECT job_id FROM batch_jobs WHERE completed_at IS NOT NULL)`,
  );
  const [durations] = (await caller.get('/v1/analytics/durations')).json.data;
  expect(durations).toEqual({
    group: {},
    ended: 1,
    queued: { mean_ms: 1_500, p95_ms: 1_500 },
    running: { mean_ms: 60_000, p95_ms: 60_000 },
    finalizing: { mean_ms: 0, p95_ms: 0 },
  });
  expect((await caller.get('/v1/analytics/durations?of=shards&group_by=model')).json.data).toEqual([]);
  expect(ended).toMatch(/^job_/);
});

test('a key sees its own: a project, a customer, a tenant; an operator everything, and filters by tenant', async () => {
  const { tenantId, caller } = await twoJobs();
  await twoJobs();
  const total = async (key: typeof caller, query = '') =>
    (await key.get(`/v1/analytics/items${query}`)).json.data.reduce(
      (sum: number, row: { total: number }) => sum + row.total,
      0,
    );
  expect(await total(caller)).toBe(5);
  expect(await total(await api.caller('project', { tenantId, projectId: 'web' }))).toBe(3);
  expect(await total(await api.caller('customer', { tenantId, customerId: 'cust_1' }))).toBe(2);
  expect(await total(caller, '?tenant_id=tenant_other')).toBe(0);
  expect(await total(caller, '?customer_id=cust_1')).toBe(2);
  expect(await total(caller, '?provider=anthropic')).toBe(0);
  const operator = await api.caller('operator', {});
  expect(await total(operator)).toBeGreaterThanOrEqual(10);
  expect(await total(operator, `?tenant_id=${tenantId}&group_by=tenant`)).toBe(5);
});

test("a customer's own key sees its own prices, never what the tenant pays", async () => {
  const tenantId = await api.tenant();
  await setCustomerPricing(
    db.pool,
    { tenantId, customerId: 'cust_1' },
    { markupPercent: '50', prices: [] },
    'key_test',
  );
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.submitted(1, { customer_id: 'cust_1' });
  await settleItems(db, jobId, [{ itemNo: 1, amount: '1' }]);
  await db.pool.query('UPDATE job_rollups SET customer_amount = 1.5 WHERE amount = 1');
  await endJob(db, jobId);
  const customer = await api.caller('customer', { tenantId, customerId: 'cust_1' });
  const [paid] = (await caller.get('/v1/analytics/costs')).json.data;
  const [shown] = (await customer.get('/v1/analytics/costs?group_by=provider,model')).json.data;
  expect([paid.settled, shown.settled, shown.ended_settled]).toEqual(['1.00', '1.50', '1.50']);
  expect(Number(shown.estimated)).toBeCloseTo(1.5 * Number(paid.estimated), 12);
  expect(shown.group).toEqual({ provider: 'openai', model: 'gpt-4o-mini' });
});

test.each([
  ['from=2026-08-01T00:00:00Z', 'from'],
  ['group_by=planet', 'group_by'],
  ['group_by=day,day', 'group_by'],
  ['limit=3', 'limit'],
])('%s is refused', async (query, field) => {
  const caller = await api.caller();
  const { status, json } = await caller.get(`/v1/analytics/items?${query}`);
  expect([status, json.field.split('[')[0]]).toEqual([400, field]);
});

test('without a key nothing is told', async () => {
  expect((await api.app.request('/v1/analytics/items')).status).toBe(401);
});
