import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { LaunchedProcess } from '../../local/launched-process.ts';
import { choosePort } from '../../local/ports.ts';
import type { TestGateway } from './gateway.ts';
import { type GatewayServers, startGatewayProcess } from './gateway-process.ts';

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

/** What the gateway's processes are to talk to; Temporal is that of the test run. */
export type StackTarget = Omit<GatewayServers, 'temporalAddress'>;

/** One of the gateway's own processes, as it runs in production: a child that can be killed and frozen. */
export interface GatewayProcess {
  readonly pid: number;
  /** `http://127.0.0.1:…`: of the api, or of the worker's health checks. */
  readonly url: string;
  /** `SIGTERM` lets it finish, `SIGKILL` ends it at once, `SIGSTOP` freezes it and `SIGCONT` thaws it. */
  signal(signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Waits until it is gone. */
  ended(): Promise<string>;
  /** The most memory it ever held, in bytes. Linux only. */
  peakMemoryBytes(): Promise<number>;
  /** What it holds now. */
  memoryBytes(): Promise<number>;
  log(): Promise<string>;
}

/** Starts processes of the gateway on the test run's Postgres, Temporal and simulators, and ends them all. */
export class GatewayStack {
  readonly #target: StackTarget;
  readonly #folder: Promise<string>;
  readonly #running: LaunchedProcess[] = [];

  /** On the servers of a gateway in this process; `env` is added to what every process gets. */
  static of(gateway: TestGateway, env?: Readonly<Record<string, string>>): GatewayStack {
    const { database, namespace, openaiUrl, anthropicUrl, geminiUrl } = gateway;
    return new GatewayStack({ databaseUrl: database.url, namespace, openaiUrl, anthropicUrl, geminiUrl, env });
  }

  private constructor(target: StackTarget) {
    this.#target = target;
    this.#folder = mkdtemp(join(tmpdir(), 'batchgate-stack-'));
  }

  /** Resolves once every queue is served. `env` is of this worker alone. */
  async startWorker(env: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
    return this.#start('worker', env);
  }

  async startApi(): Promise<GatewayProcess> {
    return this.#start('api');
  }

  async stop(): Promise<void> {
    for (const { pid } of this.#running) signal(pid, 'SIGCONT');
    await Promise.all(this.#running.map((running) => running.end()));
    await rm(await this.#folder, { recursive: true, force: true });
  }

  async #start(name: 'api' | 'worker', own: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
    const [port, folder] = [await choosePort(0), await this.#folder];
    const env = { ...PACES, ...this.#target.env, ...own };
    const servers = { ...this.#target, temporalAddress: inject('temporalAddress'), env };
    const started = await startGatewayProcess({ name, port, servers, folder }, (launched) => {
      this.#running.push(launched);
    });
    return {
      pid: started.pid,
      url: started.url,
      log: started.log,
      signal: (name) => signal(started.pid, name),
      ended: () => started.ended,
      peakMemoryBytes: () => readMemory(started.pid, 'VmHWM'),
      memoryBytes: () => readMemory(started.pid, 'VmRSS'),
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

/** Of proc(5): `VmHWM` is the peak resident set size, `VmRSS` that of now; both in kB there. */
async function readMemory(pid: number, field: 'VmHWM' | 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`no ${field} of process ${pid}`);
  return Number(kilobytes) * 1024;
}
