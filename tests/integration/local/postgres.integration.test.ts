import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { choosePort } from '../../../local/ports.ts';
import { type RunningPostgres, startPostgres } from '../../../local/postgres.ts';
import { identify, sendSignal } from '../../../local/running-process.ts';
import { waitUntil } from '../../../local/wait-until.ts';

let dataDirectory: string;
let running: RunningPostgres[];
let said: string[];
beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'batchgate-postgres-'));
  chmodSync(dataDirectory, 0o711);
  running = [];
  said = [];
});
afterEach(async () => {
  await Promise.all(running.map((postgres) => postgres.stop()));
  rmSync(dataDirectory, { recursive: true });
});

async function start(ephemeral = false): Promise<RunningPostgres> {
  const port = await choosePort(0);
  const postgres = await startPostgres({ dataDirectory, port, ephemeral, log: (line) => said.push(line) });
  running.push(postgres);
  return postgres;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function pidOf(postgres: RunningPostgres): number {
  const pid = postgres.pid();
  if (pid === undefined) throw new Error('Postgres does not run');
  return pid;
}

test('starts Postgres 18 with a durable database of its own and stops it without a trace', async () => {
  const postgres = await start();
  const [row] = await query(
    postgres.url,
    `SELECT current_database() AS database, current_setting('server_version') AS version,
            current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync,
            current_setting('max_connections') AS connections, pg_encoding_to_char(encoding) AS encoding
     FROM pg_database WHERE datname = current_database()`,
  );
  expect(row).toMatchObject({ database: 'batchgate', commit: 'on', fsync: 'on', connections: '200', encoding: 'UTF8' });
  expect(row?.['version']).toMatch(/^18\./);
  expect(postgres.created).toBe(true);
  expect(statSync(join(dataDirectory, 'postgres-password')).mode & 0o777).toBe(0o600);
  const pid = pidOf(postgres);
  await postgres.stop();
  expect(await identify(pid)).toBeUndefined();
});

test('gives up durability when nobody keeps the data', async () => {
  const postgres = await start(true);
  expect(await query(postgres.url, 'SHOW fsync')).toEqual([{ fsync: 'off' }]);
});

test('comes back by itself with its data after it was killed', async () => {
  const postgres = await start();
  await query(postgres.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
  const killed = pidOf(postgres);
  sendSignal(killed, 'SIGKILL');
  await waitUntil(async () => ![undefined, killed].includes(postgres.pid()), AbortSignal.timeout(15_000));
  expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  expect(said[0]).toMatch(/^postgres ended unexpectedly \(signal SIGKILL\)/);
});

test('takes over from a server whose parent was killed, with its data', async () => {
  const port = await choosePort(0);
  const script = `
    import { startPostgres } from ${JSON.stringify(new URL('../../../local/postgres.ts', import.meta.url).href)};
    const postgres = await startPostgres({ dataDirectory: ${JSON.stringify(dataDirectory)}, port: ${port}, ephemeral: false, log: console.error });
    console.log(JSON.stringify({ url: postgres.url, pid: postgres.pid() }));`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve));
  const orphan: { url: string; pid: number } = JSON.parse(printed.toString());
  await query(orphan.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
  parent.kill('SIGKILL');
  expect(await identify(orphan.pid)).toBeDefined();

  const postgres = await start();
  expect(postgres.created).toBe(false);
  expect(await identify(orphan.pid)).toBeUndefined();
  expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
});

test('starts over a stale lock file whose number now belongs to another process', async () => {
  const first = await start();
  const lock = join(dataDirectory, 'postgres', 'postmaster.pid');
  const content = readFileSync(lock, 'utf8');
  const bystander = spawn('sleep', ['60'], statSync(lock).uid === 0 ? {} : { uid: statSync(lock).uid });
  await first.stop();
  try {
    writeFileSync(lock, content.replace(/^\d+/, String(bystander.pid)));
    const second = await start();
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(bystander.exitCode).toBeNull();
  } finally {
    bystander.kill('SIGKILL');
  }
});

test('runs below a folder that only its owner may enter', async () => {
  chmodSync(dataDirectory, 0o700);
  const postgres = await start(true);
  expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});
