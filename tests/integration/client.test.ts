import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/client.ts';
import { asGatewayError } from '../../db/errors.ts';
import { insertTenant } from '../../db/tenants.ts';
import { createTestDatabase } from '../harness/postgres.ts';

const { db, url, drop } = await createTestDatabase();
afterAll(drop);

async function settings(database: typeof db): Promise<Record<string, string>> {
  const { rows } = await database.pool.query(
    `SELECT name, setting FROM pg_settings WHERE name IN ('TimeZone', 'statement_timeout', 'lock_timeout', 'application_name', 'work_mem')`,
  );
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

test('every connection runs in UTC with limits on statements and locks', async () => {
  expect(await settings(db)).toMatchObject({
    TimeZone: 'UTC',
    statement_timeout: '60000',
    lock_timeout: '10000',
    application_name: 'test',
  });
});

test("keeps the session options of a URL and adds its own, also where the server's zone is another", async () => {
  const { rows } = await db.pool.query('SELECT current_database() AS name');
  await db.pool.query(`ALTER DATABASE ${rows[0].name} SET TimeZone = 'Asia/Tokyo'`);
  const other = openDatabase({
    url: `${url}?options=${encodeURIComponent('-c work_mem=5MB -c TimeZone=America/New_York')}`,
    poolSize: 1,
    applicationName: 'other',
  });
  expect(await settings(other)).toMatchObject({ TimeZone: 'UTC', work_mem: '5120', application_name: 'other' });
  await other.close();
});

test('Prisma and raw SQL share one pool and agree about times and money', async () => {
  const single = openDatabase({ url, poolSize: 1, applicationName: 'single' });
  try {
    await insertTenant(single.pool, { tenantId: 'tenant_shared', name: 'Shared' });
    const suspendedAt = new Date('2026-07-01T12:34:56.789Z');
    await single.prisma.tenant.update({ where: { tenantId: 'tenant_shared' }, data: { suspendedAt } });
    const raw = await single.pool.query("SELECT suspended_at FROM tenants WHERE tenant_id = 'tenant_shared'");
    expect(raw.rows[0].suspended_at).toEqual(suspendedAt);
    const read = await single.prisma.tenant.findUniqueOrThrow({ where: { tenantId: 'tenant_shared' } });
    expect(read.suspendedAt).toEqual(suspendedAt);

    const limitAmount = '12345678901234567890123456.123456789012';
    await single.prisma.budget.create({
      data: {
        budgetId: 'bud_x',
        tenantId: 'tenant_shared',
        scope: 'tenant',
        scopeId: 'x',
        period: 'total',
        limitAmount,
      },
    });
    const budget = await single.pool.query("SELECT limit_amount FROM budgets WHERE budget_id = 'bud_x'");
    expect(budget.rows[0].limit_amount).toBe(limitAmount);

    const sessions = await single.pool.query("SELECT FROM pg_stat_activity WHERE application_name = 'single'");
    expect(sessions.rowCount).toBe(1);
  } finally {
    await single.close();
  }
});

test('tells of a connection that broke while idle and goes on with a new one', async () => {
  const heard = Promise.withResolvers<Error>();
  const other = openDatabase({ url, poolSize: 1, applicationName: 'idle', onIdleError: heard.resolve });
  try {
    const { rows } = await other.pool.query('SELECT pg_backend_pid() AS pid');
    await db.pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await expect(heard.promise).resolves.toMatchObject({ code: '57P01' });
    expect((await other.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await other.close();
  }
});

test("Prisma's error for a database that is away is known as one", async () => {
  const nowhere = new URL(url);
  nowhere.port = '1';
  const away = openDatabase({ url: nowhere.href, poolSize: 1, applicationName: 'away' });
  const error = await away.prisma.tenant.findFirst().catch(asGatewayError);
  expect(error).toMatchObject({ code: 'dependency_unavailable' });
  await away.close();
});
