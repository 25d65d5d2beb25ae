import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LaunchedProcess, launchProcess } from '../../local/launched-process.ts';
import type { Reaper } from '../../local/reaper.ts';
import { WORKER_NODE_FLAGS } from '../../worker/node-flags.ts';
import { eventually } from './eventually.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PARENT_WATCH = join(ROOT, 'local', 'parent-watch-main.ts');
const READY_WITHIN_MS = 60_000;
/** The same for every process of a test. */
const ENCRYPTION_KEYS = `test:${randomBytes(32).toString('base64')}`;

/** Where the gateway's processes find everything they talk to. */
export interface GatewayServers {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  /** Where the simulated providers are. */
  readonly openaiUrl: string;
  readonly anthropicUrl: string;
  readonly geminiUrl: string;
  /** Added to the environment of every process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface GatewayProcessStart {
  readonly name: 'api' | 'worker';
  /** Of the api, or of the worker's health checks. */
  readonly port: number;
  readonly servers: GatewayServers;
  /** Its working directory; takes its log, too. */
  readonly folder: string;
  readonly reaper?: Reaper | undefined;
}

export interface StartedGatewayProcess extends LaunchedProcess {
  /** `http://127.0.0.1:…` */
  readonly url: string;
  log(): Promise<string>;
}

/**
 * Starts the api or the worker as it runs in production and resolves once it is ready. `launched` is told of the process
 * as soon as there is one. Rejects with its log when it ends, or takes a minute, before it is ready.
 */
export async function startGatewayProcess(
  { name, port, servers, folder, reaper }: GatewayProcessStart,
  launched: (process: LaunchedProcess) => void,
): Promise<StartedGatewayProcess> {
  const logFile = join(folder, `${name}-${port}.log`);
  const own =
    name === 'worker'
      ? { BATCHGATE_WORKER_HEALTH_PORT: String(port) }
      : { BATCHGATE_HOST: '127.0.0.1', BATCHGATE_PORT: String(port) };
  const started = await launchProcess({
    name,
    command: process.execPath,
    args: [...(name === 'worker' ? WORKER_NODE_FLAGS : []), '--import', PARENT_WATCH, join(ROOT, name, 'main.ts')],
    env: { ...environmentOf(servers, folder), ...own },
    cwd: folder,
    logFile,
    channel: true,
    reaper,
  });
  launched(started);
  const url = `http://127.0.0.1:${port}`;
  const log = () => readFile(logFile, 'utf8');
  const isReady = () => fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(({ ok }) => ok);
  const early = new AbortController();
  await Promise.race([
    eventually(isReady, { timeoutMs: READY_WITHIN_MS, signal: early.signal }),
    started.ended.then(async (how) => {
      throw new Error(`the ${name} ended by ${how} before it was ready:\n${await log()}`);
    }),
  ]).finally(() => early.abort());
  return { ...started, url, log };
}

function environmentOf(servers: GatewayServers, folder: string): Record<string, string | undefined> {
  const { databaseUrl, temporalAddress, namespace, openaiUrl, anthropicUrl, geminiUrl, env } = servers;
  return {
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    BATCHGATE_ENCRYPTION_KEYS: ENCRYPTION_KEYS,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    OPENAI_API_KEY: 'sim-key',
    OPENAI_BASE_URL: openaiUrl,
    ANTHROPIC_API_KEY: 'sim-key',
    ANTHROPIC_BASE_URL: anthropicUrl,
    GEMINI_API_KEY: 'sim-key',
    GOOGLE_GEMINI_BASE_URL: geminiUrl,
    BATCHGATE_SPOOL_DIR: join(folder, 'spool'),
    BATCHGATE_LOG_LEVEL: 'info',
    ...env,
  };
}
