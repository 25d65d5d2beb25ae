import { afterAll, expect, test } from 'vitest';
import { setAliases } from '../../../db/tenants.ts';
import { chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

test('lists the models of every provider with their prices and tiers', async () => {
  const { json } = await (await api.caller()).get('/v1/models');
  const find = (model: string) => json.data.find((each: { model: string }) => each.model === model);
  expect(find('anthropic/claude-haiku-5-5')).toMatchObject({
    provider: 'anthropic',
    kind: 'chat',
    endpoints: ['chat.completions', 'messages'],
    currency: 'USD',
    batch_price_per_million: { input: '0.05', cached_input: '0.005', cache_write: '0.0625', output: '0.25' },
    long_context: { above_input_tokens: 100_000, batch_price_per_million: { input: '0.25', output: '1.25' } },
    batch_price: 'published',
  });
  expect(find('gemini/gemini-embedding-001')).toMatchObject({ endpoints: ['embeddings'], long_context: null });
  expect(find('openai/gpt-4o-mini').endpoints).toEqual(['chat.completions', 'responses']);
});

test('lists aliases with their targets in order, the tenant’s own before those every tenant has', async () => {
  const tenantId = await api.tenant();
  const targets = [
    { provider: 'gemini', model: 'gemini-2.5-pro', region: 'eu', weight: 3 },
    { provider: 'openai', model: 'gpt-4o', region: null, weight: null },
  ];
  await setAliases(db.pool, tenantId, { house: targets, 'analysis-small': [] });
  const { aliases } = (await (await api.caller('tenant_admin', { tenantId })).get('/v1/models')).json;
  expect(aliases).toEqual(
    expect.arrayContaining([
      { alias: 'house', model: 'gemini/gemini-2.5-pro', targets },
      { alias: 'analysis-small', model: null, targets: [] },
      expect.objectContaining({ alias: 'analysis-large', model: 'openai/gpt-5.6-terra' }),
    ]),
  );
});

test('shows the capability matrix, in public names', async () => {
  const { json } = await (await api.caller()).get('/v1/capabilities');
  const row = json.data.find((each: { provider: string; endpoint: string }) => {
    return each.provider === 'gemini' && each.endpoint === 'embeddings';
  });
  expect(row).toMatchObject({
    models: ['*'],
    batch_eligible: true,
    native: false,
    region: 'global',
    features: { multiple_inputs: false, token_input: false },
    limits: { max_bytes: 2_000_000_000, max_concurrent_batches: 100, max_creates_per_hour: null },
    lifetime: { window_hours: 48, on_expiry: 'nothing_kept' },
  });
  expect(row.refusals.map(({ feature }: { feature: string }) => feature)).toContain('multiple_inputs');
});

test('validate names the exact places of what the provider of an item refuses', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(0, { request_defaults: { messages: [{ role: 'system', content: 'Be brief.' }] } });
  const image = (detail: string) => ({ type: 'image_url', image_url: { url: 'https://x/a.png', detail } });
  const looking = { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, image('auto'), image('low')] }] };
  await caller.post(`/v1/batch-jobs/${jobId}/items`, {
    items: [
      chatItem('on-openai', { ...looking, seed: 1 }),
      chatItem('on-anthropic', { ...looking, model: 'anthropic/claude-opus-5' }),
      chatItem('plain', { model: 'anthropic/claude-opus-5' }),
      chatItem('seeded', { model: 'anthropic/claude-opus-5', seed: 1 }),
    ],
  });
  const { json } = await caller.post(`/v1/batch-jobs/${jobId}/validate`);
  expect(json.findings).toMatchObject([
    {
      error: 'batch_capability_not_supported',
      field: 'items[*].request.seed',
      items: 1,
      details: [{ index: 3, custom_id: 'seeded', field: 'request.seed' }],
    },
    {
      error: 'batch_capability_not_supported',
      field: 'items[*].request.messages',
      items: 1,
      details: [{ index: 1, custom_id: 'on-anthropic', field: 'request.messages[1].content[2].image_url.detail' }],
    },
  ]);
  expect(json).toMatchObject({
    ok: false,
    target: { provider: 'openai', model: 'gpt-4o-mini' },
    rejected_targets: [
      {
        requested_model: 'anthropic/claude-opus-5',
        target: { provider: 'anthropic', model: 'claude-opus-5' },
        error: 'batch_capability_not_supported',
      },
    ],
  });
});

test('a submit that no target can run is refused with the places as well', async () => {
  const caller = await api.caller();
  const jobId = await caller.draft(0, { model: 'analysis-small' });
  await caller.post(`/v1/batch-jobs/${jobId}/items`, { items: [chatItem('a', { stream: true })] });
  expect(await caller.post(`/v1/batch-jobs/${jobId}/submit`)).toMatchObject({
    status: 422,
    json: {
      error: 'batch_capability_not_supported',
      field: 'items[*].request.stream',
      details: [{ index: 0, custom_id: 'a', field: 'request.stream' }],
      details_count: 1,
    },
  });
});
