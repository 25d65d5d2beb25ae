import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../harness/postgres.ts';

test('two databases of one run share nothing', async () => {
  const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await one.db.pool.query("INSERT INTO tenants (tenant_id, name) VALUES ('tenant_a', 'A')");
  expect((await other.db.pool.query('SELECT FROM tenants')).rowCount).toBe(0);
  await Promise.all([one.drop(), other.drop()]);
});

test('a connection that a test left open is reported, and the database dropped all the same', async () => {
  const { url, drop } = await createTestDatabase();
  const leaked = new pg.Client({ connectionString: url });
  // Dropping by force ends it from the other side.
  leaked.on('error', () => {});
  onTestFinished(() => leaked.end());
  await leaked.connect();
  await expect(drop()).rejects.toThrow(/1 connection\(s\) to test_[0-9a-f]+ were left open/);
});
