import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { reseal } from '../../../api/operations/reseal.ts';
import { createCredentialStore } from '../../../db/credential-store.ts';
import { newId } from '../../../db/ids.ts';
import { credentialContext } from '../../../db/provider-credentials.ts';
import { createCipher } from '../../../encryption/create-cipher.ts';
import { createKeyRing, KEY_BYTES } from '../../../encryption/key-ring.ts';
import { TEST_CIPHER } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');
const SECRET = 'sk-planted-0123456789-Zx7Q';

let tenantId: string;
let ofTenant: string;
beforeEach(async () => {
  tenantId = await api.tenant();
  ofTenant = `/v1/admin/tenants/${tenantId}/credentials`;
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web')", [tenantId]);
  await db.pool.query('DELETE FROM provider_credentials');
});

const wanted = (change: Record<string, unknown> = {}) => ({
  provider: 'openai',
  name: 'production',
  api_key: SECRET,
  ...change,
});

async function openKey(credentialId: string): Promise<string | null> {
  const store = createCredentialStore(db.pool, TEST_CIPHER);
  const stored = await store.read(credentialId);
  return stored?.sealed == null ? null : Buffer.from(await store.open(stored.sealed, credentialId)).toString();
}

async function acts(subject: string): Promise<unknown[]> {
  const { rows } = await db.pool.query(
    'SELECT act, tenant_id, details FROM audit_log WHERE subject = $1 ORDER BY entry_no',
    [subject],
  );
  return rows;
}

test('a key that was kept is shown by its end alone, opens for its own row, and is told of in the audit log', async () => {
  const { status, json, text } = await admin.post(ofTenant, wanted({ project_id: 'web' }));
  expect(status).toBe(201);
  const shown = {
    credential_id: expect.stringMatching(/^cred_/),
    ...{ provider: 'openai', tenant_id: tenantId, project_id: 'web', name: 'production', key_hint: '…Zx7Q' },
    ...{ created_by: expect.stringMatching(/^key_/), created_at: expect.any(String) },
    ...{ replaced_at: null, revoked_at: null, last_used_at: null },
  };
  expect(json).toEqual(shown);
  const id = String(json.credential_id);
  const answers = [text, (await admin.get(ofTenant)).text, (await admin.get(`${ofTenant}/${id}`)).text];
  expect(answers.join()).not.toContain(SECRET);
  expect((await admin.get(ofTenant)).json).toEqual({ data: [shown], next_cursor: null });
  expect((await admin.get(`${ofTenant}/${id}`)).json).toEqual(shown);
  expect(await openKey(id)).toBe(SECRET);
  expect((await admin.get(`${ofTenant}/${id}`)).json.last_used_at).not.toBeNull();
  const details = { provider: 'openai', project_id: 'web' };
  expect(await acts(id)).toEqual([{ act: 'credential.created', tenant_id: tenantId, details }]);
});

test('of a short key nothing is shown, and the same call with the same idempotency key keeps one', async () => {
  const headers = { 'idempotency-key': newId('request') };
  const add = () => admin.post(ofTenant, wanted({ api_key: 'short-key' }), headers);
  const [first, second] = [await add(), await add()];
  expect(first.json.key_hint).toBe('…');
  expect(second.text).toBe(first.text);
  expect(((await admin.get(ofTenant)).json.data as unknown[]).length).toBe(1);
});

test('a replaced key is another under the same id, a revoked one is gone, and replacing puts it back in use', async () => {
  const { json } = await admin.post(ofTenant, wanted());
  const path = `${ofTenant}/${json.credential_id}`;
  const id = String(json.credential_id);
  const replaced = await admin.post(`${path}/replace`, { api_key: 'sk-another-key-of-it-9999' });
  expect(replaced).toMatchObject({ status: 200, json: { credential_id: id, key_hint: '…9999', revoked_at: null } });
  expect(replaced.json.replaced_at).not.toBeNull();
  expect(await openKey(id)).toBe('sk-another-key-of-it-9999');
  const revoked = await admin.post(`${path}/revoke`);
  expect(revoked.json.revoked_at).not.toBeNull();
  expect((await admin.post(`${path}/revoke`)).text).toBe(revoked.text);
  expect(await openKey(id)).toBeNull();
  const { rows } = await db.pool.query('SELECT sealed_key, version FROM provider_credentials');
  expect(rows).toEqual([{ sealed_key: null, version: 3 }]);
  expect((await admin.post(`${path}/replace`, { api_key: SECRET })).json.revoked_at).toBeNull();
  expect(await openKey(id)).toBe(SECRET);
  const names = ['created', 'replaced', 'revoked', 'replaced'].map((act) => ({ act: `credential.${act}` }));
  expect(await acts(id)).toMatchObject(names);
});

test('the gateway’s own are apart from tenants’, and whose is whose is told by no answer', async () => {
  const own = await admin.post('/v1/admin/credentials', wanted());
  expect(own).toMatchObject({ status: 201, json: { tenant_id: null, project_id: null } });
  const theirs = await admin.post(ofTenant, wanted());
  const other = `/v1/admin/tenants/${await api.tenant()}/credentials`;
  const [ownId, id] = [own.json.credential_id, theirs.json.credential_id];
  const strangers = [
    ...[`${other}/${id}`, `${ofTenant}/${ownId}`, `/v1/admin/credentials/${id}`],
    ...[
      `${ofTenant}/${newId('credential')}`,
      `${ofTenant}/x`,
      `${ofTenant}/%00`,
      `/v1/admin/credentials/${newId('job')}`,
    ],
  ];
  for (const path of strangers) {
    const calls = [
      await admin.get(path),
      await admin.post(`${path}/revoke`),
      await admin.post(`${path}/replace`, { api_key: SECRET }),
    ];
    for (const { status, json } of calls)
      expect([status, json.error, json.message]).toEqual([404, 'not_found', 'No such credential.']);
  }
  expect((await admin.get(other)).json.data).toEqual([]);
  expect((await admin.get('/v1/admin/credentials')).json.data).toMatchObject([{ credential_id: ownId }]);
});

test('a list is paged', async () => {
  const ids: unknown[] = [];
  for (let no = 0; no < 3; no += 1) ids.push((await admin.post(ofTenant, wanted())).json.credential_id);
  const first = await admin.get(`${ofTenant}?limit=2`);
  const second = await admin.get(`${ofTenant}?limit=2&cursor=${first.json.next_cursor}`);
  const listed = [first, second].flatMap(({ json }) => json.data as { credential_id: string }[]);
  expect(listed.map(({ credential_id }) => credential_id)).toEqual(ids);
  expect(second.json.next_cursor).toBeNull();
});

test.each([
  [{ api_key: undefined }, 400, 'api_key'],
  [{ api_key: 'short' }, 400, 'api_key'],
  [{ api_key: 'has a space in it' }, 400, 'api_key'],
  [{ provider: 'acme' }, 400, 'provider'],
  [{ name: '' }, 400, 'name'],
  [{ project_id: 'unknown' }, 404, 'project_id'],
  [{ base_url: 'https://example.org' }, 400, 'base_url'],
])('%o is refused with %i, naming %s, without the key', async (change, status, field) => {
  const answer = await admin.post(ofTenant, wanted(change));
  expect(answer).toMatchObject({ status, json: { field } });
  expect(answer.text).not.toContain(SECRET);
});

test('a gateway without a key to seal with keeps none', async () => {
  const keyless = createTestApi(db, { cipher: createCipher([]) });
  const caller = await keyless.caller('gateway_admin');
  for (const path of ['/v1/admin/credentials', '/v1/admin/encryption/reseal'])
    expect(await caller.post(path, wanted())).toMatchObject({
      status: 422,
      json: { error: 'encryption_not_configured' },
    });
});

test('what an old key sealed is sealed anew by the current one, step by step, and what cannot be opened is said', async () => {
  const key = (id: string) => ({ id, key: randomBytes(KEY_BYTES) });
  const [old, fresh, gone] = [key('old'), key('fresh'), key('gone')];
  const ids: string[] = [];
  const add = async (ring: ReturnType<typeof createKeyRing>) => {
    const id = newId('credential');
    ids.push(id);
    await db.pool.query(
      "INSERT INTO provider_credentials (credential_id, provider, name, sealed_key, key_hint, created_by) VALUES ($1, 'openai', 'x', $2, '…', 'k')",
      [id, await ring.seal(Buffer.from(SECRET), credentialContext(id))],
    );
  };
  for (let no = 0; no < 501; no += 1) await add(createKeyRing([old]));
  await add(createKeyRing([gone]));
  const principal = {
    keyId: 'key_admin',
    role: 'gateway_admin',
    tenantId: null,
    projectId: null,
    customerId: null,
    scopes: [],
  } as const;
  const ring = createKeyRing([fresh, old]);
  const step = () => reseal({ db, cipher: ring }, { principal });
  const count = (key_id: string, values: number) => ({ key_id, values });
  const of = { current_key_id: 'fresh' };
  const half = { ...of, resealed: 500, failed: 0, sealed: [count('fresh', 500), count('gone', 1), count('old', 1)] };
  expect(await step()).toEqual(half);
  const rest = { ...of, failed: 1, sealed: [count('fresh', 501), count('gone', 1)] };
  expect(await step()).toEqual({ ...rest, resealed: 1 });
  expect(await step()).toEqual({ ...rest, resealed: 0 });
  const store = createCredentialStore(db.pool, createKeyRing([fresh]));
  const [first = ''] = ids;
  const stored = await store.read(first);
  expect(Buffer.from(await store.open(stored?.sealed ?? Buffer.of(), first)).toString()).toBe(SECRET);
  const { rows } = await db.pool.query(
    "SELECT details FROM audit_log WHERE act = 'encryption.resealed' ORDER BY entry_no",
  );
  expect(rows.map(({ details }) => details)).toEqual([
    { key_id: 'fresh', values: 500 },
    { key_id: 'fresh', values: 1 },
  ]);
});
