import { afterAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../api/openapi.ts';
import { createKey } from '../../../db/api-keys.ts';
import type { Role } from '../../../domain/principal.ts';
import { SCOPES_OF, type Scope } from '../../../domain/scope.ts';
import { ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const first = await createKey(db.pool, { role: 'gateway_admin', name: 'first', tenantId: null });
const admin = new ApiCaller(api.app, first.key);
const KEYS = '/v1/admin/keys';
const DAY_MS = 86_400_000;
const keysOf = (tenantId: string) => `/v1/admin/tenants/${tenantId}/keys`;
const callerOf = ({ json }: { readonly json: { readonly key: string } }) => new ApiCaller(api.app, json.key);

describe('a tenant’s keys', () => {
  test('are shown once, and work as their role', async () => {
    const tenantId = await api.tenant();
    await admin.post(`/v1/admin/tenants/${tenantId}/projects`, { project_id: 'web', name: 'Web' });
    await admin.post(`/v1/admin/tenants/${tenantId}/customers`, { customer_id: 'one', name: 'One' });
    const wanted = { role: 'project', name: 'imports', project_id: 'web', allowed_models: ['analysis-small'] };
    const made = await admin.post(keysOf(tenantId), wanted);
    expect(made).toMatchObject({ status: 201, json: { ...wanted, customer_id: null, scopes: [], expires_at: null } });
    expect(made.json.key.startsWith(made.json.prefix)).toBe(true);
    const job = await callerOf(made).post('/v1/batch-jobs', {
      endpoint: 'chat.completions',
      model: 'openai/gpt-4o-mini',
    });
    expect(job.json).toMatchObject({ tenant_id: tenantId, project_id: 'web' });
    const { key, ...shown } = made.json;
    const again = await admin.get(`${keysOf(tenantId)}/${made.json.key_id}`);
    expect(again.json).toEqual({ ...shown, last_used_at: expect.any(String) });
    const dump = JSON.stringify((await db.pool.query('SELECT * FROM api_keys, idempotency_keys, audit_log')).rows);
    expect(dump).not.toContain(key);
    expect((await admin.get(`${keysOf(await api.tenant())}/${made.json.key_id}`)).status).toBe(404);
  });

  test('are not kept for a repetition: it names the key and does not show it', async () => {
    const tenantId = await api.tenant();
    const headers = { 'idempotency-key': 'k' };
    const wanted = { role: 'tenant_admin', name: 'x' };
    const [made, again] = [
      await admin.post(keysOf(tenantId), wanted, headers),
      await admin.post(keysOf(tenantId), wanted, headers),
    ];
    expect(again.json).toEqual({ ...made.json, key: null });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const { rows } = await db.pool.query('SELECT response_body FROM idempotency_keys');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(made.json.key);
    expect((await admin.get(keysOf(tenantId))).json.data).toHaveLength(1);
  });

  test.each([
    [{ role: 'project' }, 400, 'project_id'],
    [{ role: 'customer' }, 400, 'customer_id'],
    [{ role: 'tenant_admin', project_id: 'web' }, 400, 'project_id'],
    [{ role: 'project', project_id: 'none' }, 404, 'project_id'],
    [{ role: 'customer', customer_id: 'none' }, 404, 'customer_id'],
    [{ role: 'operator' }, 400, 'role'],
    [{ role: 'tenant_admin', scopes: ['admin:read'] }, 400, 'scopes[0]'],
    [{ role: 'tenant_admin', scopes: ['nothing'] }, 400, 'scopes[0]'],
    [{ role: 'tenant_admin', expires_at: '2020-01-01T00:00:00Z' }, 400, 'expires_at'],
    [{ role: 'tenant_admin', allowed_providers: ['nobody'] }, 400, 'allowed_providers[0]'],
  ])('%j is %i at %s', async (wanted, status, field) => {
    const answer = await admin.post(keysOf(await api.tenant()), { name: 'x', ...wanted });
    expect([answer.status, answer.json.field]).toEqual([status, field]);
  });

  test('hand over to a successor with the same rights, and end when the overlap does', async () => {
    const tenantId = await api.tenant();
    const scopes = ['jobs:read', 'jobs:write'];
    const old = await admin.post(keysOf(tenantId), { role: 'tenant_admin', name: 'x', scopes, allowed_models: ['m'] });
    const rotate = `${keysOf(tenantId)}/${old.json.key_id}/rotate`;
    const before = Date.now();
    const successor = await admin.post(rotate);
    const { name, role, allowed_models, expires_at } = old.json;
    expect(successor).toMatchObject({
      status: 201,
      json: { name, role, scopes, allowed_models, expires_at, replaced_by: null },
    });
    for (const made of [old, successor]) expect((await callerOf(made).get('/v1/batch-jobs')).status).toBe(200);
    const ended = await admin.get(`${keysOf(tenantId)}/${old.json.key_id}`);
    expect(ended.json.replaced_by).toBe(successor.json.key_id);
    expect(Math.abs(Date.parse(ended.json.expires_at) - before - DAY_MS)).toBeLessThan(60_000);
    expect(await admin.post(rotate)).toMatchObject({ status: 409, json: { error: 'conflict' } });
    const next = await admin.post(`${keysOf(tenantId)}/${successor.json.key_id}/rotate`, { overlap_seconds: 0 });
    expect((await callerOf(successor).get('/v1/batch-jobs')).status).toBe(401);
    expect((await callerOf(next).get('/v1/batch-jobs')).status).toBe(200);
  });

  test('take their schedules along when they are rotated', async () => {
    const tenantId = await api.tenant();
    const old = await admin.post(keysOf(tenantId), { role: 'tenant_admin', name: 'x' });
    const schedule = await callerOf(old).post('/v1/batch-schedules', {
      name: 'nightly',
      schedule: { cron: '0 3 * * *' },
      job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' },
      items: { items_url: 'https://93.184.215.14/items' },
    });
    expect(schedule.status).toBe(201);
    const successor = await admin.post(`${keysOf(tenantId)}/${old.json.key_id}/rotate`, { overlap_seconds: 0 });
    const { rows } = await db.pool.query('SELECT api_key_id FROM batch_schedules WHERE tenant_id = $1', [tenantId]);
    expect(rows).toEqual([{ api_key_id: successor.json.key_id }]);
  });

  test('are revoked at once and for good', async () => {
    const tenantId = await api.tenant();
    const made = await admin.post(keysOf(tenantId), { role: 'tenant_admin', name: 'x' });
    const path = `${keysOf(tenantId)}/${made.json.key_id}`;
    const revoked = await admin.post(`${path}/revoke`);
    expect(revoked.json.revoked_at).toEqual(expect.any(String));
    expect((await callerOf(made).get('/v1/batch-jobs')).status).toBe(401);
    expect((await admin.post(`${path}/revoke`)).json).toEqual(revoked.json);
    expect((await admin.post(`${path}/rotate`)).status).toBe(409);
    const { json } = await admin.get(`/v1/admin/audit-log?subject=${made.json.key_id}`);
    expect(json.data.map(({ act }: { act: string }) => act)).toEqual(['key.revoked', 'key.created']);
  });
});

describe('keys of the gateway', () => {
  test('are made, listed, rotated and revoked by its admins', async () => {
    const made = await admin.post(KEYS, { role: 'operator', name: 'on call', scopes: ['operator:read'] });
    expect(made).toMatchObject({ status: 201, json: { role: 'operator', scopes: ['operator:read'] } });
    expect((await admin.get(KEYS)).json.data.map(({ key_id: id }: { key_id: string }) => id)).toContain(
      made.json.key_id,
    );
    const successor = await admin.post(`${KEYS}/${made.json.key_id}/rotate`);
    expect(successor.json.scopes).toEqual(['operator:read']);
    expect((await admin.post(`${KEYS}/${made.json.key_id}/revoke`)).json.revoked_at).toEqual(expect.any(String));
    const ofTenant = await admin.post(keysOf(await api.tenant()), { role: 'tenant_admin', name: 'x' });
    expect((await admin.get(`${KEYS}/${ofTenant.json.key_id}`)).status).toBe(404);
    expect((await admin.post(KEYS, { role: 'tenant_admin', name: 'x' })).json.field).toBe('role');
  });

  test('the last one that can make keys is neither revoked nor left to expire', async () => {
    const revoke = (id: string) => admin.post(`${KEYS}/${id}/revoke`);
    expect(await revoke(first.keyId)).toMatchObject({ status: 409, json: { error: 'conflict' } });
    await admin.post(KEYS, { role: 'gateway_admin', name: 'reads', scopes: ['admin:read'] });
    const ending = new Date(Date.now() + DAY_MS).toISOString();
    await admin.post(KEYS, { role: 'gateway_admin', name: 'ends', expires_at: ending });
    expect((await revoke(first.keyId)).status).toBe(409);
    const other = await admin.post(KEYS, { role: 'gateway_admin', name: 'second' });
    const [one, two] = await Promise.all([
      revoke(other.json.key_id),
      callerOf(other).post(`${KEYS}/${first.keyId}/revoke`),
    ]);
    expect([one?.status, two?.status].filter((status) => status === 200).length).toBeLessThan(2);
    const { rowCount } = await db.pool.query(
      "SELECT 1 FROM api_keys WHERE role = 'gateway_admin' AND revoked_at IS NULL AND expires_at IS NULL AND scopes = '{}'",
    );
    expect(rowCount).toBe(1);
  });
});

describe('scopes', () => {
  interface Declared {
    readonly 'x-roles'?: readonly Role[];
    readonly 'x-scope'?: Scope;
  }
  const routes = Object.entries<Record<string, Declared>>(openApiDocument(api.app).paths as never)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, declared]) => [method.toUpperCase(), path, declared] as const),
    );

  test.each(routes)(
    '%s %s declares roles and a scope, and is closed to keys with every other one',
    async (method, path, declared) => {
      const { 'x-roles': roles = [], 'x-scope': scope } = declared;
      expect(roles.length).toBeGreaterThan(0);
      if (scope === undefined) throw new Error('no scope is declared');
      const tenantId = await api.tenant();
      for (const role of roles) {
        expect(SCOPES_OF[role]).toContain(scope);
        const isGateway = role === 'operator' || role === 'gateway_admin';
        const bound = {
          tenantId: isGateway ? null : tenantId,
          projectId: role === 'project' ? 'p' : null,
          customerId: role === 'customer' ? 'c' : null,
        };
        const answers = [SCOPES_OF[role].filter((other) => other !== scope), [scope], []].map(async (scopes) => {
          const { key } = await createKey(db.pool, { role, name: 'x', ...bound, scopes });
          const answer = await new ApiCaller(api.app, key).call(method, path.replaceAll(/\{\w+\}/g, 'x'));
          return answer.json?.message ?? answer.json?.error?.message ?? answer.status;
        });
        const refusal = `This call needs the scope ${scope}, which this key does not have.`;
        const [without, having, whole] = await Promise.all(answers);
        expect(without).toBe(refusal);
        expect([having, whole]).not.toContain(refusal);
      }
    },
  );
});
