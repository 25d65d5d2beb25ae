import { afterAll, expect, test } from 'vitest';
import { findRoleFault } from '../../../db/api-roles.ts';
import { openDatabase } from '../../../db/client.ts';
import { migrate } from '../../../db/migrations.ts';
import { inScope } from '../../../db/row-scope.ts';
import { createTestDatabase, scopedDatabase } from '../../harness/postgres.ts';

const { db, url, drop } = await createTestDatabase();
afterAll(drop);

/** A URL by which a role of its own logs in, which is neither superuser nor may make roles. */
async function newLogin(of: string): Promise<{ login: string; loginUrl: string }> {
  const login = `plain_${new URL(of).pathname.slice(6)}`;
  await db.pool.query(`CREATE ROLE ${login} LOGIN PASSWORD 'x'`);
  const loginUrl = new URL(of);
  loginUrl.username = login;
  loginUrl.password = 'x';
  return { login, loginUrl: loginUrl.href };
}

async function faultOf(databaseUrl: string): Promise<string | null> {
  const database = openDatabase({ url: databaseUrl, poolSize: 1, isScoped: true, applicationName: 'test' });
  return findRoleFault(database).finally(() => database.close());
}

test('a database that is migrated holds its api', async () => {
  expect(await findRoleFault(scopedDatabase(db))).toBeNull();
});

test('an api whose login may not speak as its roles is told what to run', async () => {
  const { login, loginUrl } = await newLogin(url);
  expect(await faultOf(loginUrl)).toContain('GRANT batchgate_api, batchgate_operator TO <the login role>;');
  await db.pool.query(`GRANT batchgate_api, batchgate_operator TO ${login}`);
  expect(await faultOf(loginUrl)).toBeNull();
  await db.pool.query(`DROP ROLE ${login}`);
});

test('an owner that may make no roles is told what to run, and then needs no more', async () => {
  const empty = await createTestDatabase({ migrated: false });
  const { login, loginUrl } = await newLogin(empty.url);
  try {
    await db.pool.query(`ALTER DATABASE ${new URL(empty.url).pathname.slice(1)} OWNER TO ${login}`);
    await expect(migrate(loginUrl)).rejects.toThrow(
      `CREATE ROLE batchgate_api NOLOGIN; CREATE ROLE batchgate_operator NOLOGIN; GRANT batchgate_api, batchgate_operator TO ${login};`,
    );
    await db.pool.query(`GRANT batchgate_api, batchgate_operator TO ${login} WITH INHERIT FALSE`);
    await migrate(loginUrl);
    expect(await faultOf(loginUrl)).toBeNull();

    const [owner, api] = [false, true].map((isScoped) =>
      openDatabase({ url: loginUrl, poolSize: 1, isScoped, applicationName: 'test' }),
    );
    await owner?.pool.query("INSERT INTO tenants (tenant_id, name) VALUES ('tenant_a', 'A'), ('tenant_b', 'B')");
    const seen = await inScope({ kind: 'tenant', tenantId: 'tenant_a' }, () =>
      api?.pool.query('SELECT name FROM tenants'),
    );
    expect(seen?.rows).toEqual([{ name: 'A' }]);
    expect((await owner?.pool.query('SELECT FROM tenants'))?.rowCount).toBe(2);
    await owner?.close();
    await api?.close();
  } finally {
    await empty.drop();
    await db.pool.query(`DROP ROLE ${login}`);
  }
});
