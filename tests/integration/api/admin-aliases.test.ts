import { afterAll, expect, test } from 'vitest';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

const pathOf = (tenantId: string) => `/v1/admin/tenants/${tenantId}/aliases`;
const put = (tenantId: string, aliases: unknown) => admin.call('PUT', pathOf(tenantId), { json: { aliases } });
const GPT = { provider: 'openai', model: 'gpt-4o-mini' };
const CLAUDE = { provider: 'anthropic', model: 'claude-haiku-5-5', region: 'eu', weight: 3 };

test('the whole map is replaced, targets keep their order, and what was left out is null', async () => {
  const tenantId = await api.tenant();
  expect((await admin.get(pathOf(tenantId))).json).toEqual({ tenant_id: tenantId, aliases: {} });
  const first = await put(tenantId, { fast: [CLAUDE, GPT], 'a "b" %': [GPT] });
  const full = { ...GPT, region: null, weight: null };
  const aliases = { fast: [CLAUDE, full], 'a "b" %': [full] };
  expect(first).toMatchObject({ status: 200, json: { tenant_id: tenantId, aliases, warnings: [] } });
  expect((await admin.get(pathOf(tenantId))).json).toEqual({ tenant_id: tenantId, aliases });
  await put(tenantId, { fast: [GPT] });
  expect((await admin.get(pathOf(tenantId))).json.aliases).toEqual({ fast: [full] });
  await put(tenantId, {});
  expect((await admin.get(pathOf(tenantId))).json.aliases).toEqual({});
});

test('aliases are of one tenant alone, and a job of it is given the first target that can run it', async () => {
  const [tenantId, other] = [await api.tenant(), await api.tenant()];
  await put(tenantId, { house: [{ provider: 'openai', model: 'no-such-model' }, GPT] });
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.draft(1, { model: 'house' });
  const validation = await caller.post(`/v1/batch-jobs/${jobId}/validate`);
  expect(validation.json).toMatchObject({ ok: true, target: GPT });
  const rejected = [{ requested_model: '', target: { provider: 'openai', model: 'no-such-model' } }];
  expect(validation.json.rejected_targets).toMatchObject(rejected);
  const stranger = await api.caller('tenant_admin', { tenantId: other });
  const strange = await stranger.draft(1, { model: 'house' });
  const refused = await stranger.post(`/v1/batch-jobs/${strange}/validate`);
  expect(refused.json.findings).toMatchObject([{ error: 'model_unknown' }]);
});

test('why targets were passed over stays with the submission, for the tenant and for operators', async () => {
  const tenantId = await api.tenant();
  await put(tenantId, { house: [{ provider: 'openai', model: 'no-such-model' }, GPT] });
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.submitted(1, { model: 'house' });
  await put(tenantId, {});
  const target = { provider: 'openai', model: 'no-such-model' };
  const rejected = [{ requested_model: '', target, error: expect.any(String), message: expect.any(String) }];
  const quote = await caller.get(`/v1/batch-jobs/${jobId}/quote`);
  expect(quote.json).toMatchObject({ basis: 'submission', quote: { targets: [GPT] } });
  expect(quote.json.rejected_targets).toEqual(rejected);
  const operator = await api.caller('operator');
  const seen = await operator.get(`/v1/operator/jobs/${jobId}`);
  expect(seen.json).toMatchObject({ resolved_provider: 'openai', resolved_provider_model: 'gpt-4o-mini' });
  expect(seen.json.rejected_targets).toEqual(rejected);
});

test('why no target could be given stays with a refused submission', async () => {
  const tenantId = await api.tenant();
  await put(tenantId, { house: [{ provider: 'openai', model: 'no-such-model' }] });
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.draft(1, { model: 'house' });
  const refused = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(refused.status).toBe(422);
  const operator = await api.caller('operator');
  const { rejected_targets } = (await operator.get(`/v1/operator/jobs/${jobId}`)).json;
  expect(rejected_targets).toMatchObject([{ error: refused.json.error, target: { model: 'no-such-model' } }]);
  expect((await caller.get(`/v1/batch-jobs/${jobId}/quote`)).json).toMatchObject({ basis: 'draft', rejected_targets });
});

test('a target that no job can be given is kept, with a warning that tells why', async () => {
  const tenantId = await api.tenant();
  const answer = await put(tenantId, { odd: [GPT, { provider: 'openai', model: 'gpt-4-unheard-of' }] });
  expect(answer).toMatchObject({ status: 200, json: { aliases: { odd: [{}, { model: 'gpt-4-unheard-of' }] } } });
  expect(answer.json.warnings).toEqual([
    { error: 'price_unknown', message: expect.stringContaining('openai/gpt-4-unheard-of'), field: 'aliases.odd[1]' },
  ]);
  const denial = {
    tenant_id: tenantId,
    provider: 'openai',
    model: 'gpt-4o-mini',
    is_allowed: false,
    reason: 'Not here.',
  };
  for (const endpoint of ['chat.completions', 'responses', 'embeddings', 'moderations']) {
    expect((await admin.post('/v1/admin/capabilities', { ...denial, endpoint })).status).toBe(201);
  }
  const denied = await put(tenantId, { odd: [GPT] });
  expect(denied.json.warnings).toMatchObject([{ error: 'endpoint_not_supported', field: 'aliases.odd[0]' }]);
});

test('a tenant that pays in another currency is warned of every price', async () => {
  const tenantId = await api.tenant();
  await db.pool.query("UPDATE tenants SET currency = 'EUR' WHERE tenant_id = $1", [tenantId]);
  const answer = await put(tenantId, { fast: [GPT] });
  expect(answer.json.warnings).toMatchObject([{ error: 'price_unknown', message: expect.stringContaining('in EUR') }]);
});

test.each([
  ['no target', { a: [] }, 'aliases.a'],
  ['too many targets', { a: Array.from({ length: 51 }, (_, index) => ({ ...GPT, model: `m${index}` })) }, 'aliases.a'],
  ['a target twice', { a: [GPT, CLAUDE, { ...GPT, region: null, weight: 2 }] }, 'aliases.a[2]'],
  ['no list', { a: 'openai/gpt-4o' }, 'aliases.a'],
  ['an empty name', { '': [GPT] }, 'aliases.'],
  ['a name that is too long', { ['x'.repeat(201)]: [GPT] }, `aliases.${'x'.repeat(201)}`],
  ['a provider without a name', { a: [{ ...GPT, provider: 'Open AI' }] }, 'aliases.a[0].provider'],
  ['a provider the gateway does not have', { a: [GPT, { ...GPT, provider: 'acme' }] }, 'aliases.a[1].provider'],
  ['no model', { a: [{ provider: 'openai' }] }, 'aliases.a[0].model'],
  ['a weight of nothing', { a: [{ ...GPT, weight: 0 }] }, 'aliases.a[0].weight'],
  ['a part of a weight', { a: [{ ...GPT, weight: 0.5 }] }, 'aliases.a[0].weight'],
  ['a field nobody knows', { a: [{ ...GPT, price: '1' }] }, 'aliases.a[0].price'],
  ['no map', null, 'aliases'],
])('%s is refused by field and changes nothing', async (_, aliases, field) => {
  const tenantId = await api.tenant();
  await put(tenantId, { kept: [GPT] });
  const answer = await put(tenantId, aliases);
  expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request', field } });
  expect(Object.keys((await admin.get(pathOf(tenantId))).json.aliases)).toEqual(['kept']);
});

test('a provider the gateway does not have is answered with those it has', async () => {
  const answer = await put(await api.tenant(), { a: [{ ...GPT, provider: 'acme' }] });
  expect(answer.json.message).toBe('This gateway has no provider "acme". It has openai, anthropic, gemini.');
});
