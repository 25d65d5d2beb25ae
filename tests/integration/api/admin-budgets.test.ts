import { afterAll, describe, expect, test } from 'vitest';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

const pathOf = (tenantId: string) => `/v1/admin/tenants/${tenantId}/budgets`;
const set = (tenantId: string, budget: unknown) => admin.call('PUT', pathOf(tenantId), { json: budget });

async function newTenant() {
  const tenantId = await api.tenant(null);
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'proj_1', 'P')", [tenantId]);
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'cust_1', 'C')", [tenantId]);
  return tenantId;
}

async function holdsOf(tenantId: string) {
  const { rows } = await db.pool.query(
    `SELECT scope, period, budget_id IS NULL AS unlimited FROM holds JOIN batch_jobs USING (job_id)
     WHERE tenant_id = $1 ORDER BY scope, period`,
    [tenantId],
  );
  return rows.map(({ scope, period, unlimited }) => `${scope} ${period}${unlimited ? ' without budget' : ''}`);
}

async function submit(caller: ApiCaller, options: Record<string, unknown> = {}) {
  const jobId = await caller.draft(1, options);
  return caller.post(`/v1/batch-jobs/${jobId}/submit`);
}

describe('limits', () => {
  test('are set at every level and period, changed, listed and lifted', async () => {
    const tenantId = await newTenant();
    await set(tenantId, { scope: 'tenant', period: 'total', limit: '100' });
    await set(tenantId, {
      scope: 'project',
      scope_id: 'proj_1',
      period: 'month',
      limit: '20',
      alert_percents: [90, 50],
    });
    const all = await set(tenantId, { scope: 'customer', scope_id: 'cust_1', period: 'total', limit: '3.5' });
    expect(all.json.data).toMatchObject([
      { scope: 'tenant', scope_id: tenantId, period: 'total', limit: '100.00', alert_percents: [80, 100], alerts: [] },
      { scope: 'project', scope_id: 'proj_1', period: 'month', limit: '20.00', alert_percents: [50, 90] },
      { scope: 'customer', scope_id: 'cust_1', limit: '3.50', held: '0.00', available: '3.50', currency: 'USD' },
    ]);
    await set(tenantId, { scope: 'project', scope_id: 'proj_1', period: 'month', limit: '25' });
    await set(tenantId, { scope: 'tenant', scope_id: tenantId, period: 'total', limit: null });
    await set(tenantId, { scope: 'tenant', period: 'month', limit: null });
    const listed = await admin.get(pathOf(tenantId));
    expect(listed.json.data).toMatchObject([
      { scope: 'project', limit: '25.00', alert_percents: [50, 90] },
      { scope: 'customer', limit: '3.50' },
    ]);
  });

  test('a job must fit those of its tenant, project and customer, and is held in each', async () => {
    const tenantId = await newTenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    const whose = { project_id: 'proj_1', customer_id: 'cust_1' };
    const levels = [
      { scope: 'tenant', period: 'month' },
      { scope: 'project', scope_id: 'proj_1', period: 'total' },
      { scope: 'customer', scope_id: 'cust_1', period: 'month' },
    ];
    for (const level of levels) await set(tenantId, { ...level, limit: '10' });
    for (const level of levels) {
      await set(tenantId, { ...level, limit: '0.000000000001' });
      const refused = await submit(caller, whose);
      expect(refused).toMatchObject({ status: 402, json: { error: 'budget_exceeded' } });
      expect(refused.json.message).toContain(`${level.period} budget of ${level.scope}`);
      await set(tenantId, { ...level, limit: '10' });
    }
    expect(await holdsOf(tenantId)).toEqual([]);
    const { status, json } = await submit(caller, whose);
    expect(status).toBe(202);
    expect(await holdsOf(tenantId)).toEqual([
      'customer month',
      'customer total without budget',
      'project total',
      'tenant month',
      'tenant total without budget',
    ]);
    const { data } = (await caller.get('/v1/budgets')).json;
    expect(data.map(({ held }: { held: string }) => held)).toEqual(Array(3).fill(json.cost.reserved));
  });

  test('without any, every level of a job still records what is held', async () => {
    const tenantId = await newTenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    expect((await submit(caller, { customer_id: 'cust_1' })).status).toBe(202);
    expect(await holdsOf(tenantId)).toEqual(['customer total without budget', 'tenant total without budget']);
  });

  test('one below what is held makes less than nothing available, and one that was lifted counts on', async () => {
    const tenantId = await newTenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    const total = { scope: 'tenant', period: 'total' };
    await set(tenantId, { ...total, limit: '10' });
    const { held } = (await submit(caller)).json.cost;
    const [lowered] = (await set(tenantId, { ...total, limit: '0' })).json.data;
    expect(lowered).toMatchObject({ limit: '0.00', held, available: `-${held}` });
    expect((await submit(caller)).status).toBe(402);
    expect((await set(tenantId, { ...total, limit: null })).json.data).toEqual([]);
    expect((await submit(caller)).status).toBe(202);
    const [again] = (await set(tenantId, { ...total, limit: '10' })).json.data;
    expect(Number(again.held)).toBeCloseTo(2 * Number(held), 12);
  });
});

describe('alerts', () => {
  test('are told when a limit is lowered below what is held, each once', async () => {
    const tenantId = await newTenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    const total = { scope: 'tenant', period: 'total' };
    await set(tenantId, { ...total, limit: '10' });
    const { held } = (await submit(caller)).json.cost;
    const [reached] = (await set(tenantId, { ...total, limit: held, alert_percents: [50, 100, 101] })).json.data;
    expect(reached.alerts).toEqual([50, 100].map((percent) => ({ percent, crossed_at: expect.any(String) })));
    await set(tenantId, { ...total, limit: '10' });
    await set(tenantId, { ...total, limit: held });
    const { rows } = await db.pool.query("SELECT data FROM events WHERE tenant_id = $1 AND type = 'budget.alert'", [
      tenantId,
    ]);
    const shown = {
      ...total,
      scope_id: tenantId,
      period_start: null,
      limit: held,
      held,
      settled: '0.00',
      currency: 'USD',
    };
    expect(rows.map(({ data }) => data)).toEqual([50, 100].map((percent) => ({ ...shown, percent })));
    expect((await caller.get('/v1/budgets')).json.data[0].alerts).toEqual(reached.alerts);
  });
});

describe('what is refused', () => {
  test.each([
    [{ scope: 'project', scope_id: 'proj_2', period: 'total', limit: '1' }, 'no project "proj_2"'],
    [{ scope: 'customer', scope_id: 'proj_1', period: 'total', limit: null }, 'no customer "proj_1"'],
    [{ scope: 'tenant', scope_id: 'tenant_x', period: 'total', limit: '1' }, 'Leave scope_id out'],
  ])('%j: 404', async (budget, message) => {
    const answer = await set(await newTenant(), budget);
    expect(answer).toMatchObject({ status: 404, json: { error: 'not_found', field: 'scope_id' } });
    expect(answer.json.message).toContain(message);
  });

  test.each([
    [{ scope: 'project', period: 'total', limit: '1' }, 'scope_id'],
    [{ scope: 'tenant', period: 'week', limit: '1' }, 'period'],
    [{ scope: 'tenant', period: 'total', limit: '-1' }, 'limit'],
    [{ scope: 'tenant', period: 'total', limit: 1 }, 'limit'],
    [{ scope: 'tenant', period: 'total' }, 'limit'],
    [{ scope: 'tenant', period: 'total', limit: '1', alert_percents: [80, 80] }, 'alert_percents[1]'],
    [{ scope: 'tenant', period: 'total', limit: '1', alert_percents: [0] }, 'alert_percents[0]'],
  ])('%j: 400', async (budget, field) => {
    expect(await set(await newTenant(), budget)).toMatchObject({ status: 400, json: { field } });
  });

  test('an unknown tenant, and everybody who is no admin', async () => {
    const budget = { scope: 'tenant', period: 'total', limit: '1' };
    expect((await set('tenant_nobody', budget)).status).toBe(404);
    expect((await admin.get(pathOf('tenant_nobody'))).status).toBe(404);
    const tenantId = await newTenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    expect((await caller.get(pathOf(tenantId))).status).toBe(403);
    expect((await caller.call('PUT', pathOf(tenantId), { json: budget })).status).toBe(403);
  });
});

describe('the time zone of a tenant', () => {
  const path = (tenantId: string) => `/v1/admin/tenants/${tenantId}`;

  test('is changed alone', async () => {
    const tenantId = await newTenant();
    const change = await admin.call('PATCH', path(tenantId), { json: { time_zone: 'America/New_York' } });
    expect(change).toMatchObject({ status: 200, json: { time_zone: 'America/New_York', allowed_models: null } });
    await admin.call('PATCH', path(tenantId), { json: { allowed_models: ['a'] } });
    const { time_zone, allowed_models } = (await admin.get(path(tenantId))).json;
    expect([time_zone, allowed_models]).toEqual(['America/New_York', ['a']]);
  });

  test.each(['Mars/Olympus', '+02:00', 'europe/berlin', 'FOO3BAR', ''])('"%s" is none', async (timeZone) => {
    const tenantId = await newTenant();
    const answer = await admin.call('PATCH', path(tenantId), { json: { time_zone: timeZone } });
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request', field: 'time_zone' } });
  });
});
