import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { customerShare } from '../../../domain/customer-pricing.ts';
import { formatAmount, formatNumeric, parseAmount, parseNumeric } from '../../../domain/money.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { correct } from '../../harness/corrections.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { settleUsages } from '../../harness/settled-usage.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

const RATES = { input: '1', cached_input: '0.5', cache_write: '1', output: '4' };
const LISTED = {
  provider: 'openai',
  model: 'gpt-4o-mini',
  from: '2026-01-01',
  currency: 'USD',
  kind: 'chat',
  standard: RATES,
  batch: RATES,
  max_output_tokens: 16_384,
};

interface Partner {
  readonly tenantId: string;
  readonly tenant: ApiCaller;
  readonly customer: ApiCaller;
  sell(pricing: Record<string, unknown>): ReturnType<ApiCaller['call']>;
}

async function partner(): Promise<Partner> {
  const tenantId = await api.tenant();
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'shop', 'Shop')", [tenantId]);
  return {
    tenantId,
    tenant: await api.caller('tenant_admin', { tenantId }),
    customer: await api.caller('customer', { tenantId, customerId: 'shop' }),
    sell: (json) => admin.call('PUT', `/v1/admin/tenants/${tenantId}/customers/shop/pricing`, { json }),
  };
}

function sum(costs: readonly string[]): string {
  return formatAmount(costs.reduce((total, cost) => total + parseAmount(cost), 0n));
}

/** Every place where a caller reads what a job cost. */
async function shown(caller: ApiCaller, jobId: string) {
  const path = `/v1/batch-jobs/${jobId}`;
  const [job, results, items, jobs, groups, ledger] = await Promise.all(
    [
      path,
      `${path}/results`,
      `${path}/usage?level=item`,
      `${path}/usage`,
      '/v1/usage?group_by=model',
      `${path}/ledger`,
    ].map((read) => caller.get(read)),
  );
  const entries: { event: string; amount: string }[] = ledger?.json.data;
  return {
    job: job?.json.cost.settled as string,
    results: sum(results?.json.data.map(({ cost }: { cost: string }) => cost)),
    items: sum(items?.json.data.map(({ cost }: { cost: string }) => cost)),
    jobs: sum(jobs?.json.data.map(({ cost }: { cost: string }) => cost)),
    groups: sum(groups?.json.data.map(({ cost }: { cost: string }) => cost)),
    ledger: sum(entries.filter(({ event }) => event === 'batch.item.settled').map(({ amount }) => amount)),
  };
}

test('what a customer is shown of items sums to what it is shown of the job, whatever the markup', async () => {
  const percents = fc.integer({ min: 0, max: 100_000_000 }).map((parts) => {
    const fraction = String(parts % 10_000).padStart(4, '0');
    return `${Math.floor(parts / 10_000)}.${fraction}`;
  });
  const usages = fc.array(fc.record({ inputTokens: fc.nat(3_000), outputTokens: fc.nat(400) }), {
    minLength: 3,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(percents, fc.boolean(), usages, async (percent, isListed, used) => {
      const { tenant, customer, sell } = await partner();
      expect((await sell({ markup_percent: percent, prices: isListed ? [LISTED] : [] })).status).toBe(200);
      const jobId = await customer.submitted(used.length);
      await settleUsages(db, jobId, used);
      const own = await shown(customer, jobId);
      expect(new Set(Object.values(own)).size).toBe(1);
      const upstream = await shown(tenant, jobId);
      expect(new Set(Object.values(upstream)).size).toBe(1);
      const { data } = (await tenant.get(`/v1/batch-jobs/${jobId}/usage`)).json;
      expect(data.map((row: Record<string, string>) => [row['upstream_amount'], row['customer_amount']])).toEqual([
        [upstream.job, own.job],
      ]);
      if (isListed) {
        const listed = used.reduce((total, { inputTokens, outputTokens }) => total + inputTokens + 4 * outputTokens, 0);
        expect(own.job).toBe(formatAmount(BigInt(listed) * 1_000_000n));
      }
    }),
    { numRuns: 6 },
  );
});

test('nothing a customer reads tells what its tenant pays', async () => {
  const { tenant, customer, sell } = await partner();
  await sell({ markup_percent: '25' });
  const draft = await customer.draft(2);
  const tenantQuote = (await tenant.get(`/v1/batch-jobs/${draft}/quote`)).json.quote;
  const [quote, validation] = [
    (await customer.get(`/v1/batch-jobs/${draft}/quote`)).json.quote,
    (await customer.post(`/v1/batch-jobs/${draft}/validate`)).json,
  ];
  const marked = (amount: string) => formatAmount((parseAmount(amount) * 125n) / 100n);
  expect(quote.estimated).toBe(marked(tenantQuote.estimated));
  expect(validation.estimate).toEqual(quote);
  expect(validation.budgets).toEqual([]);
  expect((await customer.get('/v1/budgets')).json.data).toEqual([]);
  await customer.post(`/v1/batch-jobs/${draft}/submit`);
  const held = (await customer.get(`/v1/batch-jobs/${draft}`)).json.cost;
  expect([held.estimated, held.reserved, held.held]).toEqual([quote.estimated, quote.reserved, quote.reserved]);
  await settleUsages(db, draft, [
    { inputTokens: 100, outputTokens: 10 },
    { inputTokens: 200, outputTokens: 20 },
  ]);
  const { cost } = (await customer.get(`/v1/batch-jobs/${draft}`)).json;
  const upstream = (await tenant.get(`/v1/batch-jobs/${draft}`)).json.cost;
  expect([cost.held, cost.settled]).toEqual(['0.00', marked(upstream.settled)]);
  const ledger = (await customer.get(`/v1/batch-jobs/${draft}/ledger`)).json.data;
  const events = ledger.map(({ event }: { event: string }) => event);
  expect(events).not.toContain('batch.released');
  const texts = await Promise.all(
    ['', '/results', '/usage', '/usage?level=item&format=csv', '/usage?format=focus', '/quote', '/ledger'].map(
      async (path) => (await customer.get(`/v1/batch-jobs/${draft}${path}`)).text,
    ),
  );
  for (const text of texts) {
    for (const secret of [upstream.settled, upstream.reserved, upstream.estimated]) {
      expect(text).not.toMatch(new RegExp(`(?<![0-9.])${secret.replace('.', '\\.')}(?![0-9])`));
    }
  }
});

test('a job keeps the pricing of its submission', async () => {
  const { tenantId, customer, sell } = await partner();
  await sell({ markup_percent: '100' });
  const jobId = await customer.submitted(1);
  await sell({ markup_percent: '0' });
  await db.pool.query('DELETE FROM customers WHERE tenant_id = $1', [tenantId]);
  await settleUsages(db, jobId, [{ inputTokens: 1_000_000, outputTokens: 0 }]);
  expect((await customer.get(`/v1/batch-jobs/${jobId}`)).json.cost.settled).toBe('0.15');
});

test('a refund gives a customer back its own part, and an adjustment is not its affair', async () => {
  const { tenant, customer, sell } = await partner();
  await sell({ markup_percent: '0', prices: [LISTED] });
  const jobId = await customer.submitted(2);
  await settleUsages(db, jobId, [
    { inputTokens: 1_000, outputTokens: 0 },
    { inputTokens: 2_000, outputTokens: 0 },
  ]);
  await correct(db, jobId, { itemNo: 1, amount: parseAmount('0.000025') });
  await correct(db, jobId, { itemNo: 0, amount: parseAmount('0.01'), ordinal: 9 });
  expect((await customer.get(`/v1/batch-jobs/${jobId}`)).json.cost.settled).toBe('0.002666666667');
  const { data } = (await customer.get(`/v1/batch-jobs/${jobId}/usage?level=item`)).json;
  expect(data.map(({ kind, cost }: Record<string, string>) => [kind, cost])).toEqual([
    ['charge', '0.001'],
    ['charge', '0.002'],
    ['refund', '-0.000333333333'],
  ]);
  const groups = (await tenant.get('/v1/usage?group_by=customer')).json.data;
  expect(groups).toMatchObject([{ upstream_amount: '0.0102', customer_amount: '0.002666666667' }]);
});

test('a customer without a pricing is shown what its tenant pays', async () => {
  const { tenant, customer } = await partner();
  const jobId = await customer.submitted(1);
  await settleUsages(db, jobId, [{ inputTokens: 1_000, outputTokens: 10 }]);
  expect(await shown(customer, jobId)).toEqual(await shown(tenant, jobId));
  expect((await customer.get('/v1/usage')).json.data).toMatchObject([{ upstream_amount: null }]);
});

test('max_cost of a customer’s own key is in its own prices', async () => {
  const { tenant, customer, sell } = await partner();
  await sell({ markup_percent: '900' });
  const reserved = (await tenant.get(`/v1/batch-jobs/${await customer.draft(1)}/quote`)).json.quote.reserved;
  const limit = { max_cost: formatAmount(parseAmount(reserved) * 5n) };
  const refused = await customer.draft(1, limit);
  expect((await customer.post(`/v1/batch-jobs/${refused}/submit`)).json.error).toBe('max_cost_exceeded');
  expect(await tenant.submitted(1, { ...limit, customer_id: 'shop' })).toMatch(/^job_/);
});

test('a share is the same in SQL and in code', async () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 20n });
  await fc.assert(
    fc.asyncProperty(units, units, units, async (customer, part, rest) => {
      const whole = part + rest;
      const { rows } = await db.pool.query('SELECT customer_share($1, $2, $3)::numeric(38,12)::text AS share', [
        formatNumeric(customer),
        formatNumeric(part),
        formatNumeric(whole),
      ]);
      expect(parseNumeric(rows[0].share)).toBe(customerShare(customer, part, whole));
    }),
    {
      examples: [
        [1n, 1n, 1n],
        [3n, 1n, 1n],
        [5n, 1n, 1n],
        [7n, 0n, 0n],
      ],
      numRuns: 60,
    },
  );
});

test.each([
  [{ markup_percent: '10001' }, 'markup_percent'],
  [{ markup_percent: '10000.0001' }, 'markup_percent'],
  [{ markup_percent: '-1' }, 'markup_percent'],
  [{ markup_percent: '1.00001' }, 'markup_percent'],
  [{ markup_percent: 15 }, 'markup_percent'],
  [{ markup_percent: null, prices: [LISTED] }, 'markup_percent'],
  [{ markup_percent: '0', prices: [{ ...LISTED, currency: 'EUR' }] }, 'prices[0].currency'],
  [{ markup_percent: '0', prices: [{ ...LISTED, batch: null }] }, 'prices[0].batch'],
  [{ markup_percent: '0', prices: [LISTED, LISTED] }, 'prices[1].model'],
  [{ markup_percent: '0', prices: [{ ...LISTED, provider: 'nobody' }] }, 'prices[0].provider'],
])('the pricing %j is refused', async (pricing, field) => {
  const { sell } = await partner();
  expect(await sell(pricing)).toMatchObject({ status: 400, json: { field } });
});

test('an admin reads back and lifts a pricing, of a customer that need not have been named before', async () => {
  const tenantId = await api.tenant();
  const path = `/v1/admin/tenants/${tenantId}/customers/new-one/pricing`;
  expect((await admin.get(path)).status).toBe(404);
  const set = await admin.call('PUT', path, { json: { markup_percent: '12.50', prices: [LISTED] } });
  expect(set.json).toMatchObject({ customer_id: 'new-one', markup_percent: '12.5', prices: [LISTED] });
  expect((await admin.get(path)).json).toEqual(set.json);
  await admin.call('PUT', path, { json: { markup_percent: null } });
  expect((await admin.get(path)).json).toMatchObject({ markup_percent: null, prices: [] });
  expect((await admin.get(`/v1/admin/tenants/nobody/customers/x/pricing`)).status).toBe(404);
  const caller = await api.caller('tenant_admin', { tenantId });
  expect((await caller.get(path)).status).toBe(403);
});
