import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../db/migrations.ts';
import { choosePort } from '../../local/ports.ts';
import { startPostgres } from '../../local/postgres.ts';
import { startReaper } from '../../local/reaper.ts';
import type { TestServer } from './test-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A superuser's URL of the migrated template; tests clone it and never connect to it. */
    databaseUrl: string;
  }
}

const MEMORY_FOLDER = '/dev/shm';
/** Twice the write-ahead log's limit. */
const MEMORY_NEEDED_BYTES = 8 * 1024 ** 3;

/** A throw-away Postgres with a migrated template database. A run that is killed leaves neither process nor files. */
export async function startTestPostgres(): Promise<TestServer & { readonly url: string }> {
  const reaper = startReaper(process.env);
  const dataDirectory = await mkdtemp(join(await temporaryFolder(), 'batchgate-tests-'));
  reaper.removeOnDeath(dataDirectory);
  const cleanUp = async (): Promise<void> => {
    await rm(dataDirectory, { recursive: true, force: true });
    reaper.keep(dataDirectory);
    await reaper.stop();
  };
  const log: string[] = [];
  try {
    const port = await choosePort(0);
    const server = await startPostgres({ dataDirectory, port, ephemeral: true, reaper, log: (line) => log.push(line) });
    await migrate(server.url).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return {
      url: server.url,
      provides: { databaseUrl: server.url },
      stop: async () => {
        const left = await listLeftDatabases(server.url).finally(server.stop).finally(cleanUp);
        if (left.length > 0) throw new Error(`tests did not drop their databases: ${left.join(', ')}`);
        if (log.length > 0) throw new Error(`the test database did not run through: ${log.join('; ')}`);
      },
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** Memory where the system offers enough of it as a folder: a clone then takes a thirtieth of the time it takes on disk. */
async function temporaryFolder(): Promise<string> {
  const free = await statfs(MEMORY_FOLDER).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free >= MEMORY_NEEDED_BYTES ? MEMORY_FOLDER : tmpdir();
}

async function listLeftDatabases(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'",
    );
    return rows.map(({ datname }) => datname);
  } finally {
    await client.end();
  }
}
