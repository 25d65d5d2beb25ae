import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, escapeIdentifier } from 'pg';
import type { ProcessRecords } from './orphans.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { openCluster } from './postgres-cluster.ts';
import { endFormerServer, retryWhileLeaving } from './postgres-takeover.ts';
import { postgresUser } from './postgres-user.ts';
import { startProcess } from './processes.ts';
import type { Reaper } from './reaper.ts';
import { waitUntil } from './wait-until.ts';

export interface PostgresOptions {
  /** The stack's data folder; the cluster lives in `postgres/` below it, the log in `logs/postgres.log`. */
  dataDirectory: string;
  port: number;
  /** Gives up surviving a power cut, for data that nobody keeps. */
  ephemeral: boolean;
  /** Receives one line when the server died or came back. */
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
  reaper?: Reaper | undefined;
  records?: ProcessRecords | undefined;
}

export interface RunningPostgres {
  /** `postgresql://…/batchgate`, with the password. */
  url: string;
  port: number;
  /** True when the cluster was initialised by this start. */
  created: boolean;
  pid(): number | undefined;
  stop(): Promise<void>;
}

const DATABASE = 'batchgate';
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  wal_compression: 'on',
  // Local tables are small; a just-in-time compilation costs more than it saves.
  jit: 'off',
  TimeZone: 'UTC',
};
const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off' };

/**
 * Starts Postgres 18 on `127.0.0.1:port` and creates the database `batchgate` when it is missing. A server that still
 * runs on the same folder, left by a parent that was killed, is ended first; one that dies is started again. The caller
 * makes sure that nobody else uses the folder (see data-lock.ts). Rejects with one sentence when it cannot start.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const binaries = findPostgresBinaries();
  const dataDirectory = resolve(options.dataDirectory);
  mkdirSync(dataDirectory, { recursive: true });
  const user = await postgresUser([binaries.postgres, join(dataDirectory, 'postgres')]);
  const cluster = await openCluster(binaries.initdb, dataDirectory, { user, ephemeral: options.ephemeral });
  await endFormerServer(cluster.directory);
  options.signal?.throwIfAborted();

  const url = (database: string) => `postgresql://postgres:${cluster.password}@127.0.0.1:${options.port}/${database}`;
  const settings = { ...SETTINGS, ...(options.ephemeral ? NOT_DURABLE : {}) };
  const {
    command,
    args,
    user: ids,
  } = user.wrap(binaries.postgres, [
    '-D',
    cluster.directory,
    '-p',
    String(options.port),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const processOptions = {
    name: 'postgres',
    command,
    args,
    user: ids,
    env: { LC_ALL: 'C' },
    cwd: '/',
    logFile: join(dataDirectory, 'logs', 'postgres.log'),
    readyWhen: (signal: AbortSignal) => waitUntil(() => answers(url('postgres')), signal),
    // SIGINT is Postgres' fast shutdown; SIGTERM would wait for every client to leave.
    stopSignal: 'SIGINT' as const,
    stopWaitMs: 20_000,
    beforeRestart: () => endFormerServer(cluster.directory),
    signal: options.signal,
    reaper: options.reaper,
    records: options.records,
    log: options.log,
  };
  const server = await retryWhileLeaving(() => startProcess(processOptions), options.signal);
  try {
    await createDatabase(url('postgres'));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { url: url(DATABASE), port: options.port, created: cluster.created, pid: server.pid, stop: server.stop };
}

async function answers(url: string): Promise<boolean> {
  await withClient(url, (client) => client.query('SELECT 1'));
  return true;
}

async function createDatabase(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${escapeIdentifier(DATABASE)}`);
  });
}

async function withClient(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
