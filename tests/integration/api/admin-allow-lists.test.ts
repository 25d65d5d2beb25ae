import { afterAll, expect, test } from 'vitest';
import { createKey } from '../../../db/api-keys.ts';
import { ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

const pathOf = (tenantId: string) => `/v1/admin/tenants/${tenantId}`;
const patch = (path: string, json: unknown) => admin.call('PATCH', path, { json });

async function newKey(tenantId: string) {
  const { key, keyId } = await createKey(db.pool, { role: 'tenant_admin', name: 'web', tenantId });
  return { keyId, key, caller: new ApiCaller(api.app, key), path: `${pathOf(tenantId)}/keys/${keyId}` };
}

async function findings(caller: ApiCaller, options: Record<string, unknown> = {}) {
  const jobId = await caller.draft(1, options);
  return (await caller.post(`/v1/batch-jobs/${jobId}/validate`)).json.findings;
}

test('a list is set, a field left out stays, and null lifts it', async () => {
  const tenantId = await api.tenant();
  const none = { allowed_models: null, allowed_providers: null };
  const shown = { tenant_id: tenantId, name: tenantId, currency: 'USD', time_zone: 'UTC', suspended_at: null };
  expect((await admin.get(pathOf(tenantId))).json).toMatchObject({ ...shown, ...none });
  const lists = { allowed_models: ['analysis-large', 'openai/gpt-4o'], allowed_providers: ['openai'] };
  expect(await patch(pathOf(tenantId), lists)).toMatchObject({ status: 200, json: { ...shown, ...lists } });
  await patch(pathOf(tenantId), { allowed_models: null });
  await patch(pathOf(tenantId), {});
  const left = { allowed_models: null, allowed_providers: ['openai'] };
  expect((await admin.get(pathOf(tenantId))).json).toMatchObject({ ...shown, ...left });
});

test('validate and submit tell a job of a key that its model is not allowed', async () => {
  const tenantId = await api.tenant();
  const [bound, free] = [await newKey(tenantId), await newKey(tenantId)];
  await patch(bound.path, { allowed_models: ['openai/gpt-4o'] });
  const message = expect.stringContaining('key');
  const refused = [{ error: 'model_not_allowed', field: 'model', message }];
  expect(await findings(bound.caller)).toMatchObject(refused);
  expect(await findings(bound.caller, { model: 'gpt-4o' })).toEqual([]);
  expect(await findings(free.caller)).toEqual([]);
  const jobId = await bound.caller.draft(1);
  const submitted = await bound.caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(submitted).toMatchObject({ status: 403, json: { error: 'model_not_allowed', field: 'model' } });
  await patch(bound.path, { allowed_models: null });
  expect((await bound.caller.post(`/v1/batch-jobs/${jobId}/submit`)).status).toBe(202);
});

test('both the list of the tenant and that of the key must allow', async () => {
  const tenantId = await api.tenant();
  const { caller, path } = await newKey(tenantId);
  await patch(pathOf(tenantId), { allowed_providers: ['anthropic'] });
  await patch(path, { allowed_providers: ['openai'] });
  expect(await findings(caller)).toMatchObject([{ error: 'model_not_allowed' }]);
  expect(await findings(caller, { model: 'anthropic/claude-haiku-5-5' })).toMatchObject([
    { error: 'model_not_allowed' },
  ]);
  await patch(pathOf(tenantId), { allowed_providers: ['openai', 'anthropic'] });
  expect(await findings(caller)).toEqual([]);
  expect(await findings((await newKey(await api.tenant())).caller)).toEqual([]);
});

test('execution names the providers and the region a job may use', async () => {
  const { caller } = await newKey(await api.tenant());
  const among = (execution: unknown) => findings(caller, { model: 'analysis-small', execution });
  expect(await among({ providers: ['anthropic', 'openai'] })).toEqual([]);
  expect(await among({ providers: ['acme'] })).toHaveLength(1);
  expect(await among({ region: 'atlantis' })).toHaveLength(1);
});

test.each([
  [{ region: '' }, 'execution.region'],
  [{ region: 'x'.repeat(65) }, 'execution.region'],
  [{ providers: [] }, 'execution.providers'],
  [{ providers: ['openai', 'gemini', 'openai'] }, 'execution.providers[2]'],
  [{ providers: ['Open AI'] }, 'execution.providers[0]'],
])('create_job refuses the execution %j', async (execution, field) => {
  const { caller } = await newKey(await api.tenant());
  const job = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', execution };
  expect(await caller.post('/v1/batch-jobs', job)).toMatchObject({ status: 400, json: { field } });
});

test('keys are listed page by page, without their secrets', async () => {
  const tenantId = await api.tenant();
  const made = [await newKey(tenantId), await newKey(tenantId), await newKey(tenantId)];
  await patch(made[1]?.path ?? '', { allowed_models: ['a'] });
  await newKey(await api.tenant());
  const first = await admin.get(`${pathOf(tenantId)}/keys?limit=2`);
  const second = await admin.get(`${pathOf(tenantId)}/keys?limit=2&cursor=${first.json.next_cursor}`);
  const keys = [...first.json.data, ...second.json.data];
  expect(keys.map(({ key_id }) => key_id)).toEqual(made.map(({ keyId }) => keyId).toSorted());
  expect(second.json.next_cursor).toBeNull();
  expect(keys.find(({ key_id }) => key_id === made[1]?.keyId)).toEqual({
    key_id: made[1]?.keyId,
    role: 'tenant_admin',
    name: 'web',
    prefix: expect.any(String),
    project_id: null,
    customer_id: null,
    scopes: [],
    allowed_models: ['a'],
    allowed_providers: null,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    replaced_by: null,
    created_at: expect.any(String),
  });
  for (const { key } of made) expect(first.text + second.text).not.toContain(key);
  expect((await admin.get(`${pathOf(tenantId)}/keys?cursor=x`)).json).toMatchObject({ error: 'invalid_cursor' });
});

test("another tenant's key is answered as one that never was, and not changed", async () => {
  const [tenantId, other] = [await api.tenant(), await api.tenant()];
  const { keyId } = await newKey(other);
  for (const id of [keyId, 'key_x', '%00']) {
    const answer = await patch(`${pathOf(tenantId)}/keys/${id}`, { allowed_models: ['a'] });
    expect(answer).toMatchObject({ status: 404, json: { message: 'The tenant has no such key.' } });
  }
  const { data } = (await admin.get(`${pathOf(other)}/keys`)).json;
  expect(data).toMatchObject([{ key_id: keyId, allowed_models: null }]);
});

test.each([
  [{ allowed_models: [] }, 'allowed_models'],
  [{ allowed_models: ['a', 'b', 'a'] }, 'allowed_models[2]'],
  [{ allowed_models: [''] }, 'allowed_models[0]'],
  [{ allowed_models: 'a' }, 'allowed_models'],
  [{ allowed_providers: ['openai', 'acme'] }, 'allowed_providers[1]'],
  [{ allowed_providers: ['Open AI'] }, 'allowed_providers[0]'],
  [{ models: ['a'] }, 'models'],
])('%j is refused by field, for a tenant and for a key', async (change, field) => {
  const tenantId = await api.tenant();
  const { path } = await newKey(tenantId);
  for (const each of [pathOf(tenantId), path]) {
    expect(await patch(each, change)).toMatchObject({ status: 400, json: { error: 'invalid_request', field } });
  }
  expect((await admin.get(pathOf(tenantId))).json).toMatchObject({ allowed_models: null, allowed_providers: null });
});
