import { afterAll, expect, test } from 'vitest';
import { createKey, findPrincipal } from '../../db/api-keys.ts';
import { hashKey } from '../../db/secret-key.ts';
import { findTenant, insertTenant } from '../../db/tenants.ts';
import { createTestDatabase } from '../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const { pool } = db;
const NOW = new Date('2026-08-19T10:00:00Z');
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const ALIASES = { fast: [{ provider: 'openai', model: 'x', region: null, weight: null }] };

await insertTenant(pool, {
  tenantId: 'tenant_a',
  name: 'A',
  currency: 'EUR',
  timeZone: 'Europe/Berlin',
  aliases: ALIASES,
});
await pool.query(
  "INSERT INTO customers (tenant_id, customer_id, name) VALUES ('tenant_a', 'cust_1', 'One'), ('tenant_a', 'cust_2', 'Two')",
);

test('finds a tenant as it was written, and says whether an id was free', async () => {
  expect(await findTenant(pool, 'tenant_a')).toEqual({
    tenantId: 'tenant_a',
    name: 'A',
    currency: 'EUR',
    timeZone: 'Europe/Berlin',
    policy: {},
    aliases: ALIASES,
    allowedModels: null,
    allowedProviders: null,
    maxItemsPerShard: null,
    estimateMargin: '0.100000',
    overagePolicy: 'charge',
    suspendedAt: null,
    suspensionReason: null,
    suspendedBy: null,
    createdAt: expect.any(Date),
  });
  expect(await findTenant(pool, 'tenant_b')).toBeNull();
  expect(await insertTenant(pool, { tenantId: 'tenant_a', name: 'again' })).toBe(false);
  expect((await findTenant(pool, 'tenant_a'))?.name).toBe('A');
});

test.each([
  ['tenant_admin', { tenantId: 'tenant_a' }],
  ['project', { tenantId: 'tenant_a', projectId: 'proj_1' }],
  ['customer', { tenantId: 'tenant_a', customerId: 'cust_1' }],
  ['operator', { tenantId: null }],
  ['gateway_admin', { tenantId: null }],
] as const)('a %s key speaks for whom it was made', async (role, whom) => {
  const { key, keyId } = await createKey(pool, { role, name: role, ...whom });
  expect(await findPrincipal(pool, key, NOW)).toEqual({
    ...{ keyId, role, projectId: null, customerId: null, scopes: [] },
    ...whom,
  });
});

test('keeps the hash and the beginning of a key, never the key', async () => {
  const { key, keyId, prefix } = await createKey(pool, {
    role: 'operator',
    name: 'x',
    tenantId: null,
    scopes: ['read'],
  });
  const { rows } = await pool.query('SELECT * FROM api_keys WHERE key_id = $1', [keyId]);
  expect(rows[0]).toMatchObject({ key_hash: hashKey(key), prefix, scopes: ['read'] });
  expect(JSON.stringify(rows[0])).not.toContain(key);
});

test.each(['', 'bg_tenant_', 'nonsense', `bg_tenant_${'a'.repeat(43)}`])('%j is nobody', async (key) => {
  expect(await findPrincipal(pool, key, NOW)).toBeNull();
});

test('a key ends at its expiry and at its revocation', async () => {
  const expiring = await createKey(pool, { role: 'tenant_admin', name: 'x', tenantId: 'tenant_a', expiresAt: at(60) });
  expect(await findPrincipal(pool, expiring.key, at(59))).not.toBeNull();
  expect(await findPrincipal(pool, expiring.key, at(60))).toBeNull();

  const revoked = await createKey(pool, { role: 'tenant_admin', name: 'x', tenantId: 'tenant_a' });
  await pool.query('UPDATE api_keys SET revoked_at = $2 WHERE key_id = $1', [revoked.keyId, NOW]);
  expect(await findPrincipal(pool, revoked.key, NOW)).toBeNull();
});

test('a good key of a suspended tenant speaks for it all the same', async () => {
  await insertTenant(pool, { tenantId: 'tenant_s', name: 'S' });
  const admin = await createKey(pool, { role: 'tenant_admin', name: 'x', tenantId: 'tenant_s' });
  await pool.query("UPDATE tenants SET suspended_at = now() WHERE tenant_id = 'tenant_s'");
  expect(await findPrincipal(pool, admin.key, NOW)).toMatchObject({ keyId: admin.keyId, tenantId: 'tenant_s' });
});

test('notes the last use at most once a minute', async () => {
  const { key, keyId } = await createKey(pool, { role: 'operator', name: 'x', tenantId: null });
  const lastUsed = async () =>
    (await pool.query('SELECT last_used_at FROM api_keys WHERE key_id = $1', [keyId])).rows[0].last_used_at;
  expect(await lastUsed()).toBeNull();
  const notes: [secondsLater: number, noted: number][] = [
    [0, 0],
    [59, 0],
    [60, 60],
    [90, 60],
    [120, 120],
  ];
  for (const [secondsLater, noted] of notes) {
    await findPrincipal(pool, key, at(secondsLater));
    expect(await lastUsed()).toEqual(at(noted));
  }
});
