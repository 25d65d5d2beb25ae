import { expect, onTestFinished, test } from 'vitest';
import { findPrincipal } from '../../db/api-keys.ts';
import { bootstrap, LOCAL_TENANT_ID } from '../../db/bootstrap.ts';
import { listBudgets } from '../../db/budgets.ts';
import { parseAmount } from '../../domain/money.ts';
import { createTestDatabase } from '../harness/postgres.ts';

async function freshDatabase() {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  return database.db;
}

test('an empty gateway gets a tenant, money and a key for each role; a later run changes nothing', async () => {
  const db = await freshDatabase();
  const now = new Date();
  const keys = await bootstrap(db);
  if (keys === null) throw new Error('no keys');
  expect(await findPrincipal(db.pool, keys.adminKey, now)).toMatchObject({ role: 'gateway_admin', tenantId: null });
  expect(await findPrincipal(db.pool, keys.operatorKey, now)).toMatchObject({ role: 'operator', tenantId: null });
  expect(await findPrincipal(db.pool, keys.tenantKey, now)).toMatchObject({
    role: 'tenant_admin',
    tenantId: LOCAL_TENANT_ID,
  });
  const scope = { tenantId: LOCAL_TENANT_ID, projectId: null, customerId: null };
  expect(await listBudgets(db.pool, scope, now)).toMatchObject([
    { scope: 'tenant', period: 'total', limit: parseAmount('1000'), available: parseAmount('1000'), currency: 'USD' },
  ]);

  expect(await bootstrap(db)).toBeNull();
  expect((await db.pool.query('SELECT FROM api_keys')).rowCount).toBe(3);
});

test('of several first runs at once, one gets the keys', async () => {
  const db = await freshDatabase();
  const runs = await Promise.all([bootstrap(db), bootstrap(db), bootstrap(db), bootstrap(db)]);
  expect(runs.filter((keys) => keys !== null)).toHaveLength(1);
  expect((await db.pool.query('SELECT FROM api_keys')).rowCount).toBe(3);
  expect((await db.pool.query('SELECT FROM tenants')).rowCount).toBe(1);
});
