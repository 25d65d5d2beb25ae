import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CATALOGUE_SNAPSHOT, describeCatalogue } from '../harness/catalogue.ts';
import { createTestDatabase } from '../harness/postgres.ts';
import { diffAgainstSchema } from '../harness/schema-engine.ts';

const schema = await readFile(join(import.meta.dirname, '..', '..', 'prisma', 'schema.prisma'), 'utf8');
const migrated = await createTestDatabase();
afterAll(migrated.drop);

test('the Prisma schema says what the migrations make', async () => {
  expect(await diffAgainstSchema(migrated.url, schema)).toBe('');
});

test('the catalogue is the one that was read and committed (renew it with scripts/update-catalogue.ts)', async () => {
  expect(await describeCatalogue(migrated.url)).toBe(await readFile(CATALOGUE_SNAPSHOT, 'utf8'));
});

test('more partitions are no drift', async () => {
  await migrated.db.pool.query('SELECT ensure_partitions(203001)');
  expect(await diffAgainstSchema(migrated.url, schema)).toBe('');
  expect(await describeCatalogue(migrated.url)).toBe(await readFile(CATALOGUE_SNAPSHOT, 'utf8'));
});

test.each([
  ['a column', 'ALTER TABLE tenants ADD COLUMN planted TEXT', 'DROP COLUMN "planted"'],
  ['a type', 'ALTER TABLE budgets ALTER COLUMN limit_amount TYPE NUMERIC(20,2)', '"limit_amount"'],
  ['a missing default', 'ALTER TABLE batch_items ALTER COLUMN item_id DROP DEFAULT', 'uuidv7()'],
  ['a nullable column', 'ALTER TABLE events ALTER COLUMN data DROP NOT NULL', '"data" SET NOT NULL'],
  ['a missing index', 'DROP INDEX api_keys_tenant_id_idx', 'CREATE INDEX "api_keys_tenant_id_idx"'],
  ['a missing foreign key', 'ALTER TABLE projects DROP CONSTRAINT projects_tenant_id_fkey', 'projects_tenant_id_fkey'],
])("Prisma's comparison notices %s", async (_, sql, shown) => {
  const { url, db, drop } = await createTestDatabase();
  await db.pool.query(sql);
  const difference = await diffAgainstSchema(url, schema);
  await drop();
  expect(difference).toContain(shown);
});

test.each([
  [
    'a partial index',
    "DROP INDEX batch_jobs_open_idx; CREATE INDEX batch_jobs_open_idx ON batch_jobs (submitted_at) WHERE state = 'queued'",
  ],
  ['a check', 'ALTER TABLE holds DROP CONSTRAINT holds_drawn_check'],
  ['a leaf that may be updated', 'DROP TRIGGER append_only ON ledger_entries_YYYYMM'],
  ['a leaf without room for updates', 'ALTER TABLE batch_items_YYYYMM RESET (fillfactor)'],
  ['a leaf without its own check', 'ALTER TABLE item_results_YYYYMM DROP CONSTRAINT item_results_YYYYMM_bucket'],
  ['a logged stage', 'ALTER TABLE result_stage SET LOGGED'],
  [
    'a function',
    "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
  ],
  ['a collation', 'ALTER TABLE unmatched_lines ALTER COLUMN reason TYPE TEXT COLLATE "POSIX"'],
])('the catalogue notices %s, which Prisma does not', async (_, sql) => {
  const { url, db, drop } = await createTestDatabase();
  const leaves = await db.pool.query(
    "SELECT max(substring(relname FROM '\\d{6}$')) AS month FROM pg_class WHERE relispartition",
  );
  await db.pool.query(sql.replaceAll('YYYYMM', leaves.rows[0].month));
  const seenByPrisma = await diffAgainstSchema(url, schema);
  const catalogue = await describeCatalogue(url);
  await drop();
  expect(seenByPrisma).toBe('');
  expect(catalogue).not.toBe(await readFile(CATALOGUE_SNAPSHOT, 'utf8'));
});
