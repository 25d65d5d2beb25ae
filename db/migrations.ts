import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { asGatewayError } from './errors.ts';
import { MIGRATIONS_DIRECTORY, type MigrationFile, readMigrationFiles } from './migration-files.ts';
import { ensurePartitions } from './partitions.ts';

/** The key that Prisma's own migrate takes, so that neither runs beside the other. */
const ADVISORY_LOCK = 72_707_369;
/** A migration that cannot lock its table soon gives up, rather than hold up everyone who queues behind it. */
const LOCK_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** As Prisma creates it. */
const BOOKKEEPING = `
CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) NOT NULL PRIMARY KEY,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

export interface MigrateOptions {
  readonly onProgress?: (message: string) => void;
  readonly directory?: string;
  readonly now?: () => number;
}

/** The database and the migration files do not belong together, or a migration failed; the message says what to do. */
class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Applies what is missing of `prisma/migrations`, each file in one transaction with its row in `_prisma_migrations`, and
 * makes this month's and the next month's partitions. Several processes may start at once: one works, the others wait.
 * Returns the names applied. Throws MigrationError, or `dependency_unavailable` when the database is away.
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<readonly string[]> {
  const { onProgress = () => {}, directory = MIGRATIONS_DIRECTORY, now = Date.now } = options;
  const files = await readMigrationFiles(directory);
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'batchgate-migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A connection that breaks also fails the statement that was under way; that one is reported.
  client.on('error', () => {});
  try {
    await client.connect();
    await takeTurn(client, onProgress);
    await client.query(BOOKKEEPING);
    const missing = missingMigrations(files, await listApplied(client));
    for (const file of missing) {
      onProgress(`applying migration ${file.name}`);
      await apply(client, file);
    }
    await ensurePartitions(client, now());
    return missing.map((file) => file.name);
  } catch (error) {
    throw asGatewayError(error);
  } finally {
    // The session ends, and its advisory lock with it.
    await client.end().catch(() => {});
  }
}

async function takeTurn(client: pg.Client, onProgress: (message: string) => void): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [ADVISORY_LOCK]);
  if (rows[0]?.taken) return;
  onProgress('waiting for another process that is migrating this database');
  await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
}

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

async function listApplied(client: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows;
}

/** Throws MigrationError unless every applied migration is one of the files, finished and unchanged. */
function missingMigrations(files: readonly MigrationFile[], applied: readonly AppliedMigration[]): MigrationFile[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const { name, checksum, finished } of applied) {
    const file = byName.get(name);
    if (file === undefined) {
      throw new MigrationError(
        `The database has migration ${name}, which this version does not know: run the version that made it, or a newer one.`,
      );
    }
    if (!finished) {
      throw new MigrationError(
        `Migration ${name} was begun by another tool and did not finish: settle it with \`prisma migrate resolve\`.`,
      );
    }
    if (checksum !== file.checksum) {
      throw new MigrationError(
        `Migration ${name} was edited after it was applied: restore the file and put the change in a new migration.`,
      );
    }
  }
  const names = new Set(applied.map(({ name }) => name));
  return files.filter((file) => !names.has(file.name));
}

async function apply(client: pg.Client, file: MigrationFile): Promise<void> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    await client.query(file.sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), file.checksum, file.name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new MigrationError(`Migration ${file.name} failed and changed nothing: ${error.message}`, { cause: error });
  }
}
