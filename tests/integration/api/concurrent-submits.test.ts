import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiCaller, chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

const RATES = { input: '0', cached_input: '0', cache_write: '0', output: '1000' };

/** From here on a reply of 1,000 tokens costs exactly 1.00, and input nothing. */
beforeAll(async () => {
  const model = { provider: 'openai', model: 'gpt-4o-mini', currency: 'USD', kind: 'chat', max_output_tokens: 16_384 };
  const price = { ...model, from: '2026-01-01', standard: RATES, batch: RATES, reason: 'round figures' };
  const { status, text } = await admin.post('/v1/admin/prices', price);
  if (status !== 201) throw new Error(text);
});

/** A tenant that holds its estimates as they are, and may spend so much. */
async function tenantOf(limit: string) {
  const tenantId = await api.tenant(null);
  const path = `/v1/admin/tenants/${tenantId}`;
  await admin.call('PATCH', path, { json: { estimate_margin: '0' } });
  const { json } = await admin.call('PUT', `${path}/budgets`, { json: { scope: 'tenant', period: 'total', limit } });
  expect(json.data).toMatchObject([{ limit }]);
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'p', 'P')", [tenantId]);
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'c', 'C')", [tenantId]);
  return { path, caller: await api.caller('tenant_admin', { tenantId }) };
}

/** The id of a draft that holds 1.00. */
async function draftOfOne(caller: ApiCaller, options: Record<string, unknown> = {}): Promise<string> {
  const jobId = await caller.draft(0, options);
  await caller.post(`/v1/batch-jobs/${jobId}/items`, { items: [chatItem('only', { max_tokens: 1_000 })] });
  return jobId;
}

async function submitAll(caller: ApiCaller, jobIds: readonly string[], body?: unknown) {
  const answers = await Promise.all(jobIds.map((jobId) => caller.post(`/v1/batch-jobs/${jobId}/submit`, body)));
  const counts = Object.groupBy(answers, ({ status }) => String(status));
  return Object.fromEntries(Object.entries(counts).map(([status, found]) => [status, found?.length]));
}

test('of twenty submits of 1.00 at once, a limit of 10.00 takes exactly ten', async () => {
  const { caller } = await tenantOf('10.00');
  const jobIds = await Promise.all(Array.from({ length: 20 }, () => draftOfOne(caller)));
  expect(await submitAll(caller, jobIds)).toEqual({ 202: 10, 402: 10 });
  const [budget] = (await caller.get('/v1/budgets')).json.data;
  expect(budget).toMatchObject({ held: '10.00', settled: '0.00', available: '0.00', limit: '10.00' });
  expect(budget.alerts).toMatchObject([{ percent: 80 }, { percent: 100 }]);
  const { rowCount } = await db.pool.query(
    "SELECT 1 FROM events WHERE type = 'budget.alert' AND tenant_id = (SELECT tenant_id FROM budgets WHERE limit_amount = 10)",
  );
  expect(rowCount).toBe(2);
});

test('samples are held like any other job', async () => {
  const { caller } = await tenantOf('3.00');
  const draftId = await draftOfOne(caller);
  expect(await submitAll(caller, Array(6).fill(draftId), { sample: 1 })).toEqual({ 202: 3, 402: 3 });
  expect((await caller.get(`/v1/batch-jobs/${draftId}`)).json.sample_jobs).toHaveLength(3);
});

test('at once under budgets of every level, as many are taken as fit the smallest, and none waits for ever', async () => {
  const { caller, path } = await tenantOf('10.00');
  const levels = [
    { scope: 'tenant', period: 'month', limit: '9.00' },
    { scope: 'project', scope_id: 'p', period: 'total', limit: '5.00' },
    { scope: 'customer', scope_id: 'c', period: 'month', limit: '4.00' },
  ];
  for (const level of levels) await admin.call('PUT', `${path}/budgets`, { json: level });
  const both = { project_id: 'p', customer_id: 'c' };
  const owners = [both, { customer_id: 'c' }, { project_id: 'p' }];
  const jobIds = await Promise.all(
    Array.from({ length: 18 }, (_, index) => draftOfOne(caller, owners[index % owners.length])),
  );
  await submitAll(caller, jobIds);
  const { data } = (await caller.get('/v1/budgets')).json;
  const held = Object.fromEntries(
    data.map((each: { scope: string; period: string; held: string }) => [
      `${each.scope} ${each.period}`,
      Number(each.held),
    ]),
  );
  expect(held['project total']).toBeLessThanOrEqual(5);
  expect(held['customer month']).toBe(4);
  expect(held['tenant month']).toBe(held['tenant total']);
  expect(held['tenant month']).toBeLessThanOrEqual(9);
});

test('a hold above max_cost is refused whatever the budgets allow, and one at it is not', async () => {
  const { caller } = await tenantOf('10.00');
  const refused = await draftOfOne(caller, { max_cost: '0.999999999999' });
  const answer = await caller.post(`/v1/batch-jobs/${refused}/submit`);
  expect(answer.json).toMatchObject({ error: 'max_cost_exceeded', field: 'max_cost' });
  const accepted = await draftOfOne(caller, { max_cost: '1.00' });
  expect((await caller.post(`/v1/batch-jobs/${accepted}/submit`)).json.cost).toMatchObject({
    reserved: '1.00',
    held: '1.00',
  });
});
