import { afterAll, expect, test } from 'vitest';
import { loadAdmissionFacts } from '../../db/admission-facts.ts';
import { setKeyAllowList, setTenantAllowList } from '../../db/allow-lists.ts';
import { createKey } from '../../db/api-keys.ts';
import { insertCapabilityOverride, withdrawCapabilityOverride } from '../../db/capability-overrides.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { insertPriceOverride, withdrawPriceOverride } from '../../db/price-overrides.ts';
import { setAliases } from '../../db/tenants.ts';
import type { CapabilityRow } from '../../domain/capability-row.ts';
import { type CapabilityOverride, createCatalogue } from '../../domain/catalogue.ts';
import { DEFAULT_ALIASES } from '../../domain/default-aliases.ts';
import { type PriceRow, rates } from '../../domain/price-row.ts';
import { insertJob, insertTenant } from '../harness/jobs.ts';
import { createTestDatabase } from '../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const { pool } = db;
const AT = new Date('2026-08-19T10:00:00Z');

const ROW: CapabilityRow = {
  provider: 'acme',
  endpoint: 'chat.completions',
  models: ['acme-*'],
  isBatchEligible: true,
  refuses: [{ feature: 'STREAM', message: 'No.' }],
  limits: {
    maxItems: 10,
    maxBytes: 1000,
    maxItemBytes: 1000,
    maxEmbeddingInputs: null,
    maxCreatesPerHour: null,
    maxQueuedItems: null,
    maxQueuedTokens: null,
    maxConcurrentBatches: null,
  },
  lifetime: { windowHours: 24, resultRetentionDays: 1, onExpiry: 'nothing_kept', onCancel: 'nothing_kept' },
  sizesDiffer: false,
  source: 'a test',
};

function price(input: string, from = '2026-01-01'): PriceRow {
  return {
    provider: 'acme',
    model: 'acme-1',
    from,
    currency: 'USD',
    kind: 'chat',
    standard: rates(input, input, input, '2'),
    batch: rates(input, input, input, '2', '3'),
    batchBasis: 'published',
    longContext: { aboveInputTokens: 100, standard: rates('9', '9', '9', '9'), batch: rates('8', '8', '8', '8') },
    maxOutputTokens: 50,
  };
}

const base = createCatalogue([
  { provider: 'acme', dialect: 'openai', region: 'eu', capabilities: [ROW], prices: [price('10')] },
]);
const CAPABILITY: CapabilityOverride = {
  provider: 'acme',
  endpoint: 'chat.completions',
  model: 'acme-1',
  feature: 'STREAM',
  isAllowed: true,
  reason: 'It works.',
};

async function newJob() {
  const tenant = await insertTenant(db);
  const { jobId } = await insertJob(db, tenant, { model: 'acme/acme-1' });
  const load = async () => loadAdmissionFacts(pool, await getJobRow(pool, jobId), AT, base);
  return {
    tenantId: tenant.tenantId,
    jobId,
    load,
    /** The batch price of input. */
    inputPrice: async (at = AT) => (await load()).catalogue.prices.find('acme', 'acme-1', at)?.batch?.input,
    refusals: async () => {
      const { catalogue } = await load();
      return catalogue.findCapability('acme', 'chat.completions', 'acme-1')?.refuses.map(({ feature }) => feature);
    },
  };
}

const setPrice = (tenantId: string | null, row: PriceRow) =>
  insertPriceOverride(pool, { tenantId, price: row, reason: 'x', createdBy: 'key_x' });
const setCapability = (tenantId: string | null, change: Partial<CapabilityOverride> = {}) =>
  insertCapabilityOverride(pool, { ...CAPABILITY, ...change, tenantId, createdBy: 'key_x' });

test('a job of a tenant for which nothing is set gets the base catalogue and the aliases of all', async () => {
  const { load, jobId } = await newJob();
  const facts = await load();
  expect(facts.catalogue).toBe(base);
  expect(facts).toMatchObject({ jobId, aliases: DEFAULT_ALIASES, region: null, providers: null });
  expect(facts.allowLists).toEqual([
    { of: 'tenant', models: null, providers: null },
    { of: 'key', models: null, providers: null },
  ]);
});

test("a tenant's own aliases come beside and before those of all", async () => {
  const { load, tenantId } = await newJob();
  const own = [{ provider: 'acme', model: 'acme-1', region: 'eu', weight: 3 }];
  await setAliases(pool, tenantId, { 'analysis-large': own, house: own });
  const { 'analysis-large': large, ...others } = DEFAULT_ALIASES;
  expect(large).not.toEqual(own);
  expect((await load()).aliases).toEqual({ ...others, 'analysis-large': own, house: own });
});

test('where and on whom a job may run is what it was created with', async () => {
  const { load, jobId } = await newJob();
  await pool.query('UPDATE batch_jobs SET execution = $1', [{ region: 'eu', providers: ['acme'] }]);
  expect(await load()).toMatchObject({ jobId, region: 'eu', providers: ['acme'] });
});

test("the allow-lists of the tenant and of the job's key are both weighed, and a change keeps what it does not name", async () => {
  const { load, tenantId } = await newJob();
  const { keyId } = await createKey(pool, { role: 'tenant_admin', name: 'x', tenantId });
  await pool.query('UPDATE batch_jobs SET api_key_id = $1 WHERE tenant_id = $2', [keyId, tenantId]);
  await setTenantAllowList(pool, tenantId, { models: ['a', 'b'], providers: ['acme'] });
  await setTenantAllowList(pool, tenantId, { models: ['b'] });
  await setKeyAllowList(pool, { tenantId, keyId }, { models: ['c'], providers: ['acme'] });
  await setKeyAllowList(pool, { tenantId, keyId }, { providers: null });
  expect((await load()).allowLists).toEqual([
    { of: 'tenant', models: ['b'], providers: ['acme'] },
    { of: 'key', models: ['c'], providers: null },
  ]);
});

test('a list that would allow nothing cannot be stored', async () => {
  const { tenantId } = await newJob();
  await expect(setTenantAllowList(pool, tenantId, { models: [] })).rejects.toThrow('tenants_allowed_models_check');
});

test('a price that was set is read back whole, and wins from its first day on', async () => {
  const { load, tenantId, inputPrice } = await newJob();
  await setPrice(tenantId, price('7', '2026-08-01'));
  expect(await inputPrice()).toBe('7');
  expect(await inputPrice(new Date('2026-07-31T23:59:59Z'))).toBe('10');
  const found = (await load()).catalogue.prices.find('acme', 'acme-1', AT);
  expect(found).toEqual({ ...price('7', '2026-08-01'), batchBasis: 'override' });
});

test('a price for all holds for every tenant, and gives way to one of its own, older or newer', async () => {
  const [one, other] = [await newJob(), await newJob()];
  const all = [await setPrice(null, price('5', '2026-02-01'))];
  expect([await one.inputPrice(), await other.inputPrice()]).toEqual(['5', '5']);
  await setPrice(one.tenantId, price('4', '2026-03-01'));
  all.push(await setPrice(null, price('6', '2026-04-01')));
  expect([await one.inputPrice(), await other.inputPrice()]).toEqual(['4', '6']);
  expect(await one.inputPrice(new Date('2026-02-15T00:00:00Z'))).toBe('5');
  for (const id of all) await withdrawPriceOverride(pool, id, 'key_x');
  expect([await one.inputPrice(), await other.inputPrice()]).toEqual(['4', '10']);
});

test('of two prices for one day the newer holds, until it is withdrawn', async () => {
  const { tenantId, inputPrice } = await newJob();
  await setPrice(tenantId, price('3'));
  const newer = await setPrice(tenantId, price('2'));
  expect(await inputPrice()).toBe('2');
  expect(await withdrawPriceOverride(pool, newer, 'key_y')).toMatchObject({ withdrawnBy: 'key_y' });
  expect(await withdrawPriceOverride(pool, newer, 'key_z')).toMatchObject({ withdrawnBy: 'key_y' });
  expect(await inputPrice()).toBe('3');
});

test('a stored row that is no price stops admission rather than charge something', async () => {
  const { load, tenantId } = await newJob();
  await pool.query(
    `INSERT INTO price_overrides (override_id, tenant_id, provider, model, from_day, "row", reason, created_by)
     VALUES ('price_odd', $1, 'acme', 'acme-1', '2026-01-01', '{"currency": "USD", "kind": "chat"}', 'x', 'x')`,
    [tenantId],
  );
  await expect(load()).rejects.toThrow('the price of price_odd cannot be read');
});

test('what was said of a model wins over the matrix, and the word for a tenant over the word for all', async () => {
  const [one, other] = [await newJob(), await newJob()];
  expect(await one.refusals()).toEqual(['STREAM']);
  await setCapability(one.tenantId);
  const forAll = await setCapability(null, { feature: 'TOOLS', isAllowed: false, reason: 'Later.' });
  await setCapability(one.tenantId, { feature: 'TOOLS' });
  const denied = await setCapability(null, { isAllowed: false });
  expect(await one.refusals()).toEqual([]);
  expect(await other.refusals()).toEqual(['TOOLS', 'STREAM']);
  for (const id of [forAll, denied]) await withdrawCapabilityOverride(pool, id, 'key_x');
  expect(await other.refusals()).toEqual(['STREAM']);
});

test.each([
  ['is not changed', 'UPDATE price_overrides SET reason = reason'],
  ['is not deleted', 'DELETE FROM price_overrides'],
  ['is not withdrawn twice', 'UPDATE price_overrides SET withdrawn_at = now() WHERE withdrawn_at IS NOT NULL'],
  [
    'is not changed while it is withdrawn',
    "UPDATE price_overrides SET withdrawn_at = now(), withdrawn_by = 'x', model = 'y'",
  ],
  ['is not truncated', 'TRUNCATE price_overrides'],
])('an override %s', async (_, sql) => {
  const { tenantId } = await newJob();
  await setPrice(tenantId, price('1'));
  await withdrawPriceOverride(pool, await setPrice(tenantId, price('1')), 'key_x');
  for (const statement of [sql, sql.replaceAll('price_overrides', 'capability_overrides')]) {
    await setCapability(tenantId);
    await withdrawCapabilityOverride(pool, await setCapability(tenantId), 'key_x');
    await expect(pool.query(statement)).rejects.toThrow('append-only');
  }
});
