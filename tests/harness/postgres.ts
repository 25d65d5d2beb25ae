import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../db/client.ts';
import { eventually } from './eventually.ts';

export interface TestDatabase {
  readonly db: Database;
  readonly url: string;
  /** Closes `db` and drops the database. Throws when a connection to it is still open: a pool or a client leaked. */
  drop(): Promise<void>;
}

/** By the pool of each test database that an api has been given: the same rows, as the api's roles see them. */
const SCOPED = new WeakMap<pg.Pool, Database>();

/** The database as an api opens it: held by row-level security. Closed with the other; itself where there is none behind it. */
export function scopedDatabase(db: Database): Database {
  if (!(db.pool instanceof pg.Pool)) return db;
  const { connectionString: url, max: poolSize = 10 } = db.pool.options;
  if (url === undefined) throw new Error('a test database has no URL');
  const scoped = SCOPED.get(db.pool) ?? openDatabase({ url, poolSize, isScoped: true, applicationName: 'test-api' });
  SCOPED.set(db.pool, scoped);
  return scoped;
}

export interface TestDatabaseOptions {
  /** Without it the database holds no table. */
  readonly migrated?: boolean;
  readonly poolSize?: number;
}

/** A database of its own for a test file, cloned from the migrated template in about a tenth of a second. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { migrated = true, poolSize = 10 } = options;
  const template = new URL(inject('databaseUrl'));
  const name = `test_${randomBytes(8).toString('hex')}`;
  const source = migrated ? decodeURIComponent(template.pathname.slice(1)) : 'template0';
  await asSuperuser(template, `CREATE DATABASE ${name} TEMPLATE ${pg.escapeIdentifier(source)} STRATEGY FILE_COPY`);
  const url = urlOf(template, name);
  const db = openDatabase({ url, poolSize, applicationName: 'test' });
  return {
    db,
    url,
    drop: async () => {
      await SCOPED.get(db.pool)?.close();
      await db.close();
      const leaked = await remainingConnections(template, name);
      await asSuperuser(template, `DROP DATABASE ${name} WITH (FORCE)`);
      if (leaked > 0) throw new Error(`${leaked} connection(s) to ${name} were left open`);
    },
  };
}

/** A server process ends a moment after its client has gone. Those of the server itself, such as autovacuum, do not count. */
async function remainingConnections(template: URL, name: string): Promise<number> {
  let remaining = 0;
  const count = async (): Promise<boolean> => {
    const rows = await asSuperuser(
      template,
      `SELECT FROM pg_stat_activity WHERE datname = '${name}' AND backend_type = 'client backend'`,
    );
    remaining = rows.length;
    return remaining === 0;
  };
  await eventually(count, { timeoutMs: 2_000 }).catch(() => {});
  return remaining;
}

async function asSuperuser(template: URL, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: urlOf(template, 'postgres') });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function urlOf(base: URL, database: string): string {
  const url = new URL(base);
  url.pathname = `/${database}`;
  return url.href;
}
