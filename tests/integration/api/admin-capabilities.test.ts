import { afterAll, expect, test } from 'vitest';
import { chatItem, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

const CAPABILITIES = '/v1/admin/capabilities';
const DENIAL = {
  provider: 'openai',
  endpoint: 'chat.completions',
  model: 'gpt-4o*',
  feature: 'tools',
  is_allowed: false,
  reason: 'Tools are under repair. Leave them out.',
};
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };

const add = (capability: unknown) => admin.post(CAPABILITIES, capability);
const withdraw = (id: string) => admin.call('DELETE', `${CAPABILITIES}/${id}`);

async function findings(tenantId: string, request: Record<string, unknown> = {}) {
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.draft(0);
  await caller.post(`/v1/batch-jobs/${jobId}/items`, { items: [chatItem('a', request)] });
  return (await caller.post(`/v1/batch-jobs/${jobId}/validate`)).json.findings;
}

test('what was said is answered and listed as it was said', async () => {
  const tenantId = await api.tenant();
  const answer = await add({ ...DENIAL, tenant_id: tenantId });
  expect(answer.status).toBe(201);
  expect(answer.json).toEqual({
    ...DENIAL,
    override_id: expect.stringMatching(/^cap_[0-9a-z]{26}$/),
    tenant_id: tenantId,
    created_by: expect.stringMatching(/^key_/),
    created_at: expect.any(String),
    withdrawn_by: null,
    withdrawn_at: null,
  });
  const { feature: _, ...whole } = DENIAL;
  const second = await add({ ...whole, tenant_id: tenantId });
  expect(second.json.feature).toBeNull();
  expect((await admin.get(`${CAPABILITIES}?tenant_id=${tenantId}`)).json.data).toEqual([second.json, answer.json]);
});

test('a feature that is denied is refused with the reason, until the denial is withdrawn, to its tenant alone', async () => {
  const [tenantId, other] = [await api.tenant(), await api.tenant()];
  expect(await findings(tenantId, { tools: [TOOL] })).toEqual([]);
  const { override_id } = (await add({ ...DENIAL, tenant_id: tenantId })).json;
  expect(await findings(tenantId, { tools: [TOOL] })).toMatchObject([
    { error: 'batch_capability_not_supported', message: DENIAL.reason, field: 'items[*].request.tools', items: 1 },
  ]);
  expect(await findings(tenantId)).toEqual([]);
  expect(await findings(other, { tools: [TOOL] })).toEqual([]);
  const withdrawn = await withdraw(override_id);
  expect(withdrawn).toMatchObject({ status: 200, json: { override_id, withdrawn_at: expect.any(String) } });
  expect((await withdraw(override_id)).json).toEqual(withdrawn.json);
  expect(await findings(tenantId, { tools: [TOOL] })).toEqual([]);
});

test('batch mode of a model can be denied, and allowed again by a newer word', async () => {
  const tenantId = await api.tenant();
  await add({ ...DENIAL, tenant_id: tenantId, feature: null });
  expect(await findings(tenantId)).toHaveLength(1);
  await add({ ...DENIAL, tenant_id: tenantId, feature: null, model: 'gpt-4o-mini', is_allowed: true });
  expect(await findings(tenantId)).toEqual([]);
});

test.each([
  ['a star in the middle', { model: 'gpt-*-mini' }, 'model'],
  ['an empty pattern', { model: '' }, 'model'],
  ['an endpoint that is none', { endpoint: 'chat' }, 'endpoint'],
  ['an endpoint its batches do not run', { endpoint: 'messages' }, 'endpoint'],
  ['a feature that is none', { feature: 'TOOLS' }, 'feature'],
  ['what no provider decides', { feature: 'malformed' }, 'feature'],
  ['no word of allowed or not', { is_allowed: undefined }, 'is_allowed'],
  ['a provider the gateway does not have', { provider: 'acme' }, 'provider'],
  ['no reason', { reason: undefined }, 'reason'],
])('%s is refused by field', async (_, change, field) => {
  expect(await add({ ...DENIAL, ...change })).toMatchObject({ status: 400, json: { error: 'invalid_request', field } });
});

test('a refusal names what the provider does run', async () => {
  const answer = await add({ ...DENIAL, endpoint: 'messages' });
  expect(answer.json.message).toContain('They run chat.completions');
});

test('an unknown tenant is refused by field', async () => {
  const answer = await add({ ...DENIAL, tenant_id: 'tenant_x' });
  expect(answer).toMatchObject({ status: 404, json: { error: 'not_found', field: 'tenant_id' } });
});
