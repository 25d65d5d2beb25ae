import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { type LaunchedProcess, launchProcess } from '../../local/launched-process.ts';
import { choosePort } from '../../local/ports.ts';
import { eventually } from './eventually.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PARENT_WATCH = join(ROOT, 'local', 'parent-watch-main.ts');
const READY_WITHIN_MS = 60_000;

/** Short, but long enough for a process to be killed, frozen or started in between. */
const PACES = {
  BATCHGATE_POLL_MIN_MS: '20',
  BATCHGATE_POLL_MAX_MS: '200',
  BATCHGATE_CREATE_DEADLINE_MS: '4000',
  BATCHGATE_LISTING_LAG_MS: '100',
  BATCHGATE_RESULT_GRACE_MS: '100',
  BATCHGATE_PROVIDER_LOST_AFTER_MS: '60000',
  BATCHGATE_CAPACITY_RETRY_MS: '100',
};

/** What the gateway's processes are to talk to. */
export interface StackTarget {
  readonly databaseUrl: string;
  readonly namespace: string;
  /** Where the simulated providers are. */
  readonly openaiUrl: string;
  readonly anthropicUrl: string;
  readonly geminiUrl: string;
  /** Added to the environment of every process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One of the gateway's own processes, as it runs in production: a child that can be killed and frozen. */
export interface GatewayProcess {
  readonly pid: number;
  /** `http://127.0.0.1:…`: of the api, or of the worker's health checks. */
  readonly url: string;
  /** `SIGKILL` ends it at once, `SIGSTOP` freezes it and `SIGCONT` thaws it. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Waits until it is gone. */
  ended(): Promise<string>;
  /** The most memory it ever held, in bytes. Linux only. */
  peakMemoryBytes(): Promise<number>;
  log(): Promise<string>;
}

/** Starts processes of the gateway on the test run's Postgres, Temporal and simulators, and ends them all. */
export class GatewayStack {
  readonly #target: StackTarget;
  readonly #folder: Promise<string>;
  readonly #running: LaunchedProcess[] = [];

  constructor(target: StackTarget) {
    this.#target = target;
    this.#folder = mkdtemp(join(tmpdir(), 'batchgate-stack-'));
  }

  /** Resolves once every queue is served. */
  async startWorker(): Promise<GatewayProcess> {
    const port = await choosePort(0);
    return this.#start('worker', port, { BATCHGATE_WORKER_HEALTH_PORT: String(port) });
  }

  async startApi(): Promise<GatewayProcess> {
    const port = await choosePort(0);
    return this.#start('api', port, { BATCHGATE_HOST: '127.0.0.1', BATCHGATE_PORT: String(port) });
  }

  async stop(): Promise<void> {
    for (const { pid } of this.#running) signal(pid, 'SIGCONT');
    await Promise.all(this.#running.map((running) => running.end()));
    await rm(await this.#folder, { recursive: true, force: true });
  }

  async #start(name: 'api' | 'worker', port: number, own: Record<string, string>): Promise<GatewayProcess> {
    const folder = await this.#folder;
    const logFile = join(folder, `${name}-${port}.log`);
    const launched = await launchProcess({
      name,
      command: process.execPath,
      args: ['--import', PARENT_WATCH, join(ROOT, name, 'main.ts')],
      env: this.#environment(folder, own),
      cwd: folder,
      logFile,
      channel: true,
    });
    this.#running.push(launched);
    const url = `http://127.0.0.1:${port}`;
    const log = () => readFile(logFile, 'utf8');
    const isReady = () => fetch(`${url}/readyz`).then(({ ok }) => ok);
    await Promise.race([
      eventually(isReady, { timeoutMs: READY_WITHIN_MS }),
      launched.ended.then(async (how) => {
        throw new Error(`the ${name} ended by ${how} before it was ready:\n${await log()}`);
      }),
    ]);
    return {
      pid: launched.pid,
      url,
      log,
      signal: (name) => signal(launched.pid, name),
      ended: () => launched.ended,
      peakMemoryBytes: () => readPeakMemory(launched.pid),
    };
  }

  #environment(folder: string, own: Record<string, string>): Record<string, string | undefined> {
    const { databaseUrl, namespace, openaiUrl, anthropicUrl, geminiUrl, env } = this.#target;
    return {
      PATH: process.env['PATH'],
      ...PACES,
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
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
      ...own,
    };
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/** `VmHWM` of proc(5): the peak resident set size, in kB. */
async function readPeakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`no peak memory of process ${pid}`);
  return Number(kilobytes) * 1024;
}
