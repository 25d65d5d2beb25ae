import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { MIGRATIONS_DIRECTORY, readMigrationFiles } from '../../db/migration-files.ts';
import { migrate } from '../../db/migrations.ts';
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts';
import { runNode } from '../harness/run-node.ts';
import { diagnoseMigrations } from '../harness/schema-engine.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const directory = await mkdtemp(join(tmpdir(), 'batchgate-migrations-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ migrated: false });
  onTestFinished(() => database.drop());
  await rm(directory, { recursive: true, force: true });
  await cp(MIGRATIONS_DIRECTORY, directory, { recursive: true });
});

async function addMigration(name: string, sql: string): Promise<void> {
  await mkdir(join(directory, name), { recursive: true });
  await writeFile(join(directory, name, 'migration.sql'), sql);
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  return (await database.db.pool.query(sql)).rows;
}

test('applies every migration once, in order, and then has nothing to do', async () => {
  await addMigration('20990101000000_second', 'CREATE TABLE second (x int); INSERT INTO second VALUES (1)');
  await addMigration('20990102000000_third', 'ALTER TABLE second ADD COLUMN y int');
  const names = (await readMigrationFiles(directory)).map((file) => file.name);
  const progress: string[] = [];
  expect(await migrate(database.url, { directory, onProgress: (message) => progress.push(message) })).toEqual(names);
  expect(progress).toEqual(names.map((name) => `applying migration ${name}`));
  expect(await migrate(database.url, { directory })).toEqual([]);
  expect(await query('SELECT * FROM second')).toEqual([{ x: 1, y: null }]);
});

test("keeps Prisma's books: names, checksums of the bytes, times and one step each", async () => {
  await migrate(database.url);
  const files = await readMigrationFiles(MIGRATIONS_DIRECTORY);
  const expected = files.map(async ({ name }) => {
    const bytes = await readFile(join(MIGRATIONS_DIRECTORY, name, 'migration.sql'));
    return {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      checksum: createHash('sha256').update(bytes).digest('hex'),
      finished_at: expect.any(Date),
      migration_name: name,
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      applied_steps_count: 1,
    };
  });
  expect(await query('SELECT * FROM _prisma_migrations ORDER BY migration_name')).toEqual(await Promise.all(expected));
});

test("agrees with Prisma's own look at the history, applied, unapplied and edited", async () => {
  await migrate(database.url, { directory });
  const files = await readMigrationFiles(directory);
  const clean = { hasMigrationsTable: true, editedMigrationNames: [], failedMigrationNames: [], history: null };
  expect(await diagnoseMigrations(database.url, files)).toMatchObject(clean);

  const next = { name: '20990101000000_next', sql: 'SELECT 1', checksum: '' };
  expect(await diagnoseMigrations(database.url, [...files, next])).toMatchObject({
    history: { diagnostic: 'databaseIsBehind', unappliedMigrationNames: [next.name] },
  });
  const edited = files.map((file) => ({ ...file, sql: `${file.sql}\n-- edited` }));
  expect(await diagnoseMigrations(database.url, edited)).toMatchObject({
    editedMigrationNames: files.map((file) => file.name),
  });
});

test('several processes that start at once apply each migration once', async () => {
  const run = () => runNode([join(ROOT, 'scripts', 'migrate.ts')], { DATABASE_URL: database.url });
  const runs = await Promise.all([run(), run(), run()]);
  expect(runs.map(({ status, stderr }) => ({ status, stderr }))).toEqual(runs.map(() => ({ status: 0, stderr: '' })));
  const files = await readMigrationFiles(MIGRATIONS_DIRECTORY);
  expect(runs.filter(({ stdout }) => stdout.includes('up to date'))).toHaveLength(2);
  expect(await query('SELECT migration_name FROM _prisma_migrations')).toHaveLength(files.length);
});

test('says when it waits for another process', async () => {
  const holder = await database.db.pool.connect();
  await holder.query('SELECT pg_advisory_lock(72707369)');
  const waits = Promise.withResolvers<string>();
  const migrating = migrate(database.url, { onProgress: waits.resolve });
  await expect(waits.promise).resolves.toContain('waiting for another process');
  expect(await query("SELECT to_regclass('tenants') AS made")).toEqual([{ made: null }]);
  await holder.query('SELECT pg_advisory_unlock(72707369)');
  holder.release();
  await expect(migrating).resolves.not.toEqual([]);
});

test('a migration that fails changes nothing, is named, and can be mended', async () => {
  await addMigration('20990101000000_bad', 'CREATE TABLE half (x int); SELECT 1 / 0');
  const failure = migrate(database.url, { directory });
  await expect(failure).rejects.toThrow('Migration 20990101000000_bad failed and changed nothing: division by zero');
  expect(await query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
  await addMigration('20990101000000_bad', 'CREATE TABLE whole (x int)');
  await expect(migrate(database.url, { directory })).resolves.toEqual(['20990101000000_bad']);
});

test('refuses a migration that was edited after it was applied', async () => {
  await migrate(database.url, { directory });
  const [file] = await readMigrationFiles(directory);
  await addMigration(file?.name ?? '', `${file?.sql}\n-- edited`);
  await expect(migrate(database.url, { directory })).rejects.toThrow(
    `Migration ${file?.name} was edited after it was applied`,
  );
});

test('refuses a database that a newer version has migrated', async () => {
  await addMigration('20990101000000_newer', 'CREATE TABLE newer (x int)');
  await migrate(database.url, { directory });
  await expect(migrate(database.url)).rejects.toThrow(
    'The database has migration 20990101000000_newer, which this version does not know',
  );
});

test('refuses a migration that Prisma began and did not finish, but not one that was rolled back', async () => {
  await migrate(database.url, { directory });
  await addMigration('20990101000000_next', 'CREATE TABLE next (x int)');
  await query(`INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('1', 'x', '20990101000000_next')`);
  await expect(migrate(database.url, { directory })).rejects.toThrow('was begun by another tool and did not finish');
  await query("UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = '1'");
  await expect(migrate(database.url, { directory })).resolves.toEqual(['20990101000000_next']);
});

test('makes the partitions of this month and the next, and of later months when they come', async () => {
  const leaves = async () =>
    (await query("SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY 1")).map(
      ({ relname }) => relname,
    );
  await migrate(database.url, { now: () => Date.UTC(2026, 11, 31, 23, 59) });
  expect(await leaves()).toEqual(
    ['batch_items', 'item_outcomes', 'item_requests', 'item_results', 'ledger_entries'].flatMap((parent) => [
      `${parent}_202612`,
      `${parent}_202701`,
    ]),
  );
  await migrate(database.url, { now: () => Date.UTC(2027, 0, 1) });
  expect(await leaves()).toContain('batch_items_202702');
});

test('an alias that named one model becomes a list of one target', async () => {
  const [first, ...later] = await readMigrationFiles(directory);
  for (const { name } of later) await rm(join(directory, name), { recursive: true });
  await migrate(database.url, { directory });
  const old = {
    qualified: 'openai/gpt-4o',
    deep: 'gemini/models/x',
    plain: 'gpt-4o-mini',
    claude: 'claude-haiku-5-5',
    gemini: 'gemini-3.8-flash',
    unknown: 'elsewhere/llama',
    'odd "name"': 'openai/',
    number: 3,
  };
  await database.db.pool.query(
    `INSERT INTO tenants (tenant_id, name, aliases) VALUES ('some', 'x', $1), ('none', 'x', '{}'), ('broken', 'x', '[1]')`,
    [old],
  );
  await cp(MIGRATIONS_DIRECTORY, directory, { recursive: true });
  expect(await migrate(database.url, { directory })).not.toContain(first?.name);
  const target = (provider: string, model: string) => [{ provider, model, region: null, weight: null }];
  expect(await query('SELECT tenant_id, aliases FROM tenants ORDER BY tenant_id')).toEqual([
    { tenant_id: 'broken', aliases: {} },
    { tenant_id: 'none', aliases: {} },
    {
      tenant_id: 'some',
      aliases: {
        qualified: target('openai', 'gpt-4o'),
        deep: target('gemini', 'models/x'),
        plain: target('openai', 'gpt-4o-mini'),
        claude: target('anthropic', 'claude-haiku-5-5'),
        gemini: target('gemini', 'gemini-3.8-flash'),
        unknown: target('openai', 'elsewhere/llama'),
        'odd "name"': target('openai', 'openai/'),
      },
    },
  ]);
});

test('a database that is away is dependency_unavailable', async () => {
  const nowhere = new URL(database.url);
  nowhere.port = '1';
  await expect(migrate(nowhere.href)).rejects.toMatchObject({ code: 'dependency_unavailable' });
});
