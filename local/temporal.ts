import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { ProcessRecords } from './orphans.ts';
import { choosePort } from './ports.ts';
import { startProcess } from './processes.ts';
import type { Reaper } from './reaper.ts';
import { listens, waitUntil } from './wait-until.ts';

export interface TemporalOptions {
  executable: string;
  /** The stack's data folder; the server's state lives in `temporal/` below it, its log in `logs/temporal.log`. */
  dataDirectory: string;
  /** Keeps the state in memory only. */
  ephemeral: boolean;
  port: number;
  uiPort: number;
  /** Name → type as the command line spells it: Keyword, Int, Datetime, … */
  searchAttributes: Record<string, string>;
  /** Further dynamic configuration, as `key=value` with the value in JSON. */
  settings?: readonly string[];
  /** Receives one line when the server died or came back. */
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
  reaper?: Reaper | undefined;
  records?: ProcessRecords | undefined;
}

export interface RunningTemporal {
  /** `127.0.0.1:port` of the gRPC frontend. */
  address: string;
  uiUrl: string;
  namespace: string;
  pid(): number | undefined;
  stop(): Promise<void>;
}

const NAMESPACE = 'default';
/** The server's own default of one day is gone before an operator looks. */
const RETENTION = '30 days';
const DYNAMIC_CONFIG = [
  // Without it fairness keys are accepted and ignored.
  'matching.enableFairness=true',
  // Without it no timer fires earlier than a second.
  'history.timerProcessorMaxTimeShift="1ms"',
];

/**
 * Starts Temporal's development server with its Web UI on 127.0.0.1 and waits until it answers and keeps closed
 * workflows for 30 days. One that dies is started again on the same state. The caller makes sure that nobody else uses
 * the folder (see data-lock.ts). Rejects with one sentence when it cannot start.
 */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  const dataDirectory = resolve(options.dataDirectory);
  const address = `127.0.0.1:${options.port}`;
  const [httpPort, metricsPort] = await Promise.all([choosePort(0), choosePort(0)]);
  const server = await startProcess({
    name: 'temporal',
    command: options.executable,
    args: [
      ...['server', 'start-dev', '--log-level', 'error', '--ip', '127.0.0.1', '--port', String(options.port)],
      ...['--ui-port', String(options.uiPort), '--ui-disable-news-fetch'],
      ...['--http-port', String(httpPort), '--metrics-port', String(metricsPort)],
      ...[...DYNAMIC_CONFIG, ...(options.settings ?? [])].flatMap((setting) => ['--dynamic-config-value', setting]),
      ...Object.entries(options.searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
      ...(options.ephemeral ? [] : stateArguments(join(dataDirectory, 'temporal'))),
    ],
    // Nothing of ours: the command line would take a namespace or an address from TEMPORAL_* variables.
    env: {},
    cwd: dataDirectory,
    logFile: join(dataDirectory, 'logs', 'temporal.log'),
    readyWhen: async (signal) => {
      // A gRPC channel opened too early backs off for a second.
      await waitUntil(() => listens(options.port), signal, 20);
      await waitUntil(() => answers(address), signal);
    },
    signal: options.signal,
    reaper: options.reaper,
    records: options.records,
    log: options.log,
  });
  try {
    await withConnection(address, keepClosedWorkflows);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    address,
    uiUrl: `http://127.0.0.1:${options.uiPort}`,
    namespace: NAMESPACE,
    pid: server.pid,
    stop: server.stop,
  };
}

/** With a write-ahead log a killed server loses nothing; a power cut may cost the last moments, never the file. */
function stateArguments(directory: string): string[] {
  mkdirSync(directory, { recursive: true });
  const pragmas = ['journal_mode=WAL', 'synchronous=NORMAL'].flatMap((pragma) => ['--sqlite-pragma', pragma]);
  return ['--db-filename', join(directory, 'temporal.db'), ...pragmas];
}

async function answers(address: string): Promise<boolean> {
  await withConnection(address, (connection) => connection.workflowService.describeNamespace({ namespace: NAMESPACE }));
  return true;
}

async function keepClosedWorkflows(connection: Connection): Promise<void> {
  await connection.workflowService.updateNamespace({
    namespace: NAMESPACE,
    config: { workflowExecutionRetentionTtl: msToTs(RETENTION) },
  });
}

async function withConnection(address: string, work: (connection: Connection) => Promise<unknown>): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '2s' });
  try {
    await connection.withDeadline(Date.now() + 5_000, () => work(connection));
  } finally {
    await connection.close();
  }
}
