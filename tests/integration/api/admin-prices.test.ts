import { afterAll, expect, test } from 'vitest';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

const PRICES = '/v1/admin/prices';
const RATES = { input: '1', cached_input: '0.5', cache_write: '1.25', output: '10.000001' };
const PRICE = {
  provider: 'openai',
  model: 'gpt-4o-mini',
  currency: 'USD',
  kind: 'chat',
  standard: RATES,
  batch: { ...RATES, input: '2000000', long_cache_write: '2' },
  max_output_tokens: 16_384,
  reason: 'agreed in August',
};

const add = (price: unknown, headers: Record<string, string> = {}) => admin.post(PRICES, price, headers);
const withdraw = (id: string) => admin.call('DELETE', `${PRICES}/${id}`);

async function estimateOf(tenantId: string): Promise<string> {
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.draft(1);
  return (await caller.post(`/v1/batch-jobs/${jobId}/validate`)).json.estimate.estimated;
}

test('a price is added as it was said, from today on where no day is said, and listed', async () => {
  const tenantId = await api.tenant();
  const long_context = { above_input_tokens: 200_000, standard: RATES, batch: RATES };
  const answer = await add({ ...PRICE, tenant_id: tenantId, long_context });
  expect(answer.status).toBe(201);
  expect(answer.json).toEqual({
    ...PRICE,
    override_id: expect.stringMatching(/^price_[0-9a-z]{26}$/),
    tenant_id: tenantId,
    from: new Date().toISOString().slice(0, 10),
    long_context,
    created_by: expect.stringMatching(/^key_/),
    created_at: expect.any(String),
    withdrawn_by: null,
    withdrawn_at: null,
  });
  const later = await add({ ...PRICE, tenant_id: tenantId, from: '2030-02-28', batch: null });
  expect(later.json).toMatchObject({ from: '2030-02-28', batch: null, long_context: null });
  const list = await admin.get(`${PRICES}?tenant_id=${tenantId}`);
  expect(list.json).toEqual({ data: [later.json, answer.json], next_cursor: null });
});

test('a price decides what jobs of its tenant cost until it is withdrawn, and no job of another', async () => {
  const [tenantId, other] = [await api.tenant('1000000'), await api.tenant('1000000')];
  const published = await estimateOf(tenantId);
  const { override_id } = (await add({ ...PRICE, tenant_id: tenantId })).json;
  expect(Number(await estimateOf(tenantId))).toBeGreaterThan(1);
  expect(await estimateOf(other)).toBe(published);
  expect(await withdraw(override_id)).toMatchObject({ status: 200, json: { withdrawn_by: expect.any(String) } });
  expect(await estimateOf(tenantId)).toBe(published);
});

test('an accepted job keeps the price it was held at', async () => {
  const tenantId = await api.tenant('1000000');
  const { override_id } = (await add({ ...PRICE, tenant_id: tenantId })).json;
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.submitted(1);
  const quote = await caller.get(`/v1/batch-jobs/${jobId}/quote`);
  expect(quote.json.quote.lines).toMatchObject([{ model: 'gpt-4o-mini', batch_price: 'override' }]);
  await withdraw(override_id);
  expect((await caller.get(`/v1/batch-jobs/${jobId}/quote`)).json).toEqual(quote.json);
});

test('a model without a batch price cannot be used in batches', async () => {
  const tenantId = await api.tenant();
  await add({ ...PRICE, tenant_id: tenantId, batch: null });
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.draft(1);
  const { findings } = (await caller.post(`/v1/batch-jobs/${jobId}/validate`)).json;
  expect(findings).toMatchObject([{ error: 'price_unknown' }]);
});

test('a withdrawn price is listed only where asked for, and its first withdrawal stands', async () => {
  const tenantId = await api.tenant();
  const { override_id } = (await add({ ...PRICE, tenant_id: tenantId })).json;
  const first = await withdraw(override_id);
  const other = await api.caller('gateway_admin');
  expect((await other.call('DELETE', `${PRICES}/${override_id}`)).json).toEqual(first.json);
  const list = async (more: string) => (await admin.get(`${PRICES}?tenant_id=${tenantId}${more}`)).json.data;
  expect(await list('')).toEqual([]);
  expect(await list('&withdrawn=include')).toEqual([first.json]);
});

test('the list is filtered and paged', async () => {
  const tenantId = await api.tenant();
  const ids: string[] = [];
  for (const model of ['a', 'b', 'c']) {
    ids.unshift((await add({ ...PRICE, tenant_id: tenantId, model })).json.override_id);
  }
  await add({ ...PRICE, tenant_id: tenantId, provider: 'gemini' });
  const read = async (query: string) =>
    (await admin.get(`${PRICES}?provider=openai&tenant_id=${tenantId}&${query}`)).json;
  const first = await read('limit=2');
  const second = await read(`limit=2&cursor=${first.next_cursor}`);
  const seen = [...first.data, ...second.data].map(({ override_id }) => override_id);
  expect([seen, second.next_cursor]).toEqual([ids, null]);
  for (const query of ['cursor=x', 'colour=red', 'withdrawn=maybe', 'tenant_id=%00']) {
    expect((await admin.get(`${PRICES}?${query}`)).status).toBe(400);
  }
});

test('the same Idempotency-Key adds one price', async () => {
  const tenantId = await api.tenant();
  const key = { 'idempotency-key': `price-of-${tenantId}` };
  const answers = await Promise.all([1, 2, 3].map(() => add({ ...PRICE, tenant_id: tenantId }, key)));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect((await admin.get(`${PRICES}?tenant_id=${tenantId}`)).json.data).toHaveLength(1);
  expect(await add({ ...PRICE, tenant_id: tenantId, model: 'b' }, key)).toMatchObject({ status: 409 });
});

const rates = (change: Record<string, unknown>) => ({ standard: { ...RATES, ...change } });
test.each([
  ['a number for a rate', rates({ input: 1 }), 'standard.input'],
  ['seven decimals', rates({ input: '0.0000001' }), 'standard.input'],
  ['an exponent', rates({ output: '1e3' }), 'standard.output'],
  ['less than nothing', rates({ cached_input: '-1' }), 'standard.cached_input'],
  ['a leading zero', rates({ cache_write: '01' }), 'standard.cache_write'],
  ['a rate that is missing', { batch: { input: '1', cached_input: '1', output: '1' } }, 'batch.cache_write'],
  ['an empty rate', { batch: { ...RATES, long_cache_write: '' } }, 'batch.long_cache_write'],
  ['no word of batch', { batch: undefined }, 'batch'],
  ['a day that is none', { from: '2026-02-30' }, 'from'],
  ['a time for a day', { from: '2026-02-01T00:00:00Z' }, 'from'],
  ['a currency that is none', { currency: 'dollars' }, 'currency'],
  ['a kind that is none', { kind: 'video' }, 'kind'],
  ['a chat model that says nothing', { max_output_tokens: 0 }, 'max_output_tokens'],
  ['an embedding that speaks', { kind: 'embedding' }, 'max_output_tokens'],
  [
    'a long context without a batch price',
    { long_context: { above_input_tokens: 10, standard: RATES, batch: null } },
    'long_context.batch',
  ],
  ['a provider the gateway does not have', { provider: 'acme' }, 'provider'],
  ['no reason', { reason: ' ' }, 'reason'],
  ['a field nobody knows', { discount: '10 %' }, 'discount'],
])('%s is refused by field', async (_, change, field) => {
  expect(await add({ ...PRICE, ...change })).toMatchObject({ status: 400, json: { error: 'invalid_request', field } });
});

test('an unknown tenant is refused by field', async () => {
  for (const tenant_id of ['tenant_x', 'a b']) {
    const answer = await add({ ...PRICE, tenant_id });
    expect(answer).toMatchObject({ status: 404, json: { error: 'not_found', field: 'tenant_id' } });
  }
  expect(
    (await admin.get(PRICES)).json.data.filter(({ tenant_id }: { tenant_id: unknown }) => tenant_id === null),
  ).toEqual([]);
});
