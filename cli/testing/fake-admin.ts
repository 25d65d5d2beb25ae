import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { type Budget, SetBudget } from '../../contracts/budget.ts';
import { CapabilityOverride } from '../../contracts/capability-override.ts';
import { PriceOverride } from '../../contracts/price-override.ts';
import { LiftSuspension, Suspension } from '../../contracts/suspension.ts';
import { addRetentionRoutes } from './fake-retention.ts';

/** What a test arranges and looks at. */
export interface FakeAdmin {
  readonly url: string;
  /** Calls as `GET /path?query`, the keys they came with, and the bodies that were sent. */
  readonly calls: string[];
  readonly keys: string[];
  readonly bodies: unknown[];
  close(): Promise<void>;
}

const RECORD = {
  tenant_id: null,
  reason: 'agreed',
  created_by: 'key_admin',
  created_at: '2026-08-19T10:00:00.000Z',
  withdrawn_by: null,
  withdrawn_at: null,
};
const RATES = { input: '1', cached_input: '0.5', cache_write: '1', output: '2.25' };

const PRICE = PriceOverride.parse({
  ...RECORD,
  override_id: 'price_1',
  provider: 'openai',
  model: 'gpt-x',
  from: '2026-12-01',
  currency: 'USD',
  kind: 'chat',
  standard: RATES,
  batch: RATES,
  long_context: null,
  max_output_tokens: 1000,
});
const CAPABILITY = CapabilityOverride.parse({
  ...RECORD,
  override_id: 'cap_1',
  tenant_id: 'tenant_a',
  provider: 'openai',
  endpoint: 'responses',
  model: 'gpt-x*',
  feature: 'tools',
  is_allowed: false,
});
const BUDGET: Budget = {
  scope: 'tenant',
  scope_id: 'tenant_a',
  period: 'month',
  period_start: '2026-08-01',
  limit: '10.00',
  held: '1.00',
  settled: '8.00',
  available: '1.00',
  alert_percents: [80, 100],
  alerts: [{ percent: 80, crossed_at: RECORD.created_at }],
  currency: 'USD',
};
const SUSPENSION = Suspension.parse({
  suspension_id: 'susp_1',
  tenant_id: 'tenant_a',
  scope: 'customer',
  scope_id: 'cust_1',
  job_id: 'job_1',
  overage: '0.50',
  currency: 'USD',
  created_at: '2026-08-19T10:00:00.000Z',
  lifted_at: null,
  lifted_by: null,
  lift_reason: null,
});
const WITHDRAWN = { withdrawn_by: 'key_admin', withdrawn_at: '2026-08-20T10:00:00.000Z' };

/** A gateway with one tenant, one price and one capability, over real HTTP. */
export async function startFakeAdmin(): Promise<FakeAdmin> {
  const app = new Hono();
  const { promise: port, resolve } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (info) => resolve(info.port));
  const fake: FakeAdmin = {
    url: `http://127.0.0.1:${await port}`,
    calls: [],
    keys: [],
    bodies: [],
    close: () => new Promise((done) => server.close(() => done())),
  };
  addRoutes(app, fake);
  return fake;
}

function addRoutes(app: Hono, fake: FakeAdmin): void {
  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    fake.calls.push(`${c.req.method} ${pathname}${decodeURIComponent(search)}`);
    fake.keys.push(c.req.header('authorization')?.replace('Bearer ', '') ?? '');
    const text = await c.req.text();
    if (text !== '') fake.bodies.push(JSON.parse(text));
    await next();
  });
  let aliases = {};
  const answer = () => ({ tenant_id: 'tenant_a', aliases });
  app.get('/v1/admin/tenants/tenant_a/aliases', (c) => c.json(answer()));
  app.put('/v1/admin/tenants/tenant_a/aliases', async (c) => {
    ({ aliases } = await c.req.json());
    const warning = { error: 'price_unknown', message: 'No batch price is known.', field: 'aliases.fast[0]' };
    return c.json({ ...answer(), warnings: [warning] });
  });
  let lists = { allowed_models: null, allowed_providers: null };
  const tenant = () => ({
    tenant_id: 'tenant_a',
    name: 'A',
    currency: 'USD',
    time_zone: 'UTC',
    max_items_per_shard: null,
    overage_policy: 'charge',
    estimate_margin: '0.10',
    suspended_at: null,
    suspension_reason: null,
    suspended_by: null,
    created_at: RECORD.created_at,
    ...lists,
  });
  app.get('/v1/admin/tenants/tenant_a', (c) => c.json(tenant()));
  app.patch('/v1/admin/tenants/tenant_a', async (c) => {
    lists = { ...lists, ...(await c.req.json()) };
    return c.json(tenant());
  });
  app.get('/v1/admin/tenants/tenant_a/suspensions', (c) => c.json({ data: [SUSPENSION] }));
  app.post('/v1/admin/tenants/tenant_a/suspensions/susp_1/lift', async (c) => {
    const { reason } = LiftSuspension.parse(await c.req.json());
    const lifted_at = '2026-08-20T10:00:00.000Z';
    return c.json({ ...SUSPENSION, lifted_at, lifted_by: 'key_admin', lift_reason: reason });
  });
  app.patch('/v1/admin/tenants/tenant_a/keys/key_1', async (c) => {
    const { created_at } = RECORD;
    const whose = { role: 'project', name: 'web', prefix: 'bg_project_x', project_id: 'web', customer_id: null };
    const times = { expires_at: null, revoked_at: null, last_used_at: null, replaced_by: null, created_at };
    return c.json({ key_id: 'key_1', ...whose, scopes: [], ...times, ...lists, ...(await c.req.json()) });
  });
  const budgets: Budget[] = [BUDGET];
  app.get('/v1/admin/tenants/tenant_a/budgets', (c) => c.json({ data: budgets, as_of: RECORD.created_at }));
  app.put('/v1/admin/tenants/tenant_a/budgets', async (c) => {
    const { limit, scope, scope_id = 'tenant_a' } = SetBudget.parse(await c.req.json());
    budgets.splice(0, 1, ...(limit === null ? [] : [{ ...BUDGET, limit, scope, scope_id }]));
    return c.json({ data: budgets, as_of: RECORD.created_at });
  });
  app.get('/v1/admin/prices', (c) => c.json({ data: [PRICE], next_cursor: c.req.query('cursor') ? null : 'more' }));
  app.post('/v1/admin/prices', (c) => c.json(PRICE, 201));
  app.delete('/v1/admin/prices/price_1', (c) => c.json({ ...PRICE, ...WITHDRAWN }));
  app.get('/v1/admin/capabilities', (c) => c.json({ data: [CAPABILITY], next_cursor: null }));
  app.post('/v1/admin/capabilities', (c) => c.json(CAPABILITY, 201));
  app.delete('/v1/admin/capabilities/cap_1', (c) => c.json({ ...CAPABILITY, ...WITHDRAWN }));
  addRetentionRoutes(app);
}
