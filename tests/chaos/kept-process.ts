import { setTimeout as delay } from 'node:timers/promises';
import type { LaunchedProcess } from '../../local/launched-process.ts';
import { sendSignal } from '../../local/running-process.ts';
import { eventually } from '../harness/eventually.ts';

/** Starts the process anew; tells of it as soon as there is one, and resolves once it is ready. */
export type Launch = (launched: (process: LaunchedProcess) => void) => Promise<LaunchedProcess>;

const PAUSE_MS = 100;
const READY_WITHIN_MS = 90_000;

/** A process that is started again whenever it ends, as whoever runs it in production would. */
export class KeptProcess {
  readonly #launch: Launch;
  #current: LaunchedProcess | null = null;
  #isReady = false;
  #stopping = false;
  #kept: Promise<void> = Promise.resolve();

  constructor(launch: Launch) {
    this.#launch = launch;
  }

  /** Resolves once the first process is ready. */
  async start(): Promise<void> {
    this.#kept = this.#keep();
    await this.ready();
  }

  /** Number of the process that runs now; undefined where none does. */
  get pid(): number | undefined {
    return this.#current?.pid;
  }

  /** Ends the process that runs now, without a chance to put anything in order. */
  kill(): void {
    if (this.#current === null) return;
    this.#isReady = false;
    sendSignal(this.#current.pid, 'SIGKILL');
  }

  async ready(): Promise<void> {
    await eventually(() => this.#isReady, { timeoutMs: READY_WITHIN_MS });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#current !== null) sendSignal(this.#current.pid, 'SIGCONT');
    await this.#current?.end();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    while (!this.#stopping) {
      let ended: Promise<unknown> = Promise.resolve();
      try {
        const process = await this.#launch((launched) => {
          this.#current = launched;
          ended = launched.ended;
          if (this.#stopping) void launched.end();
        });
        this.#isReady = true;
        await process.ended;
      } catch {
        // It ended, or was ended, before it was ready: its log tells why.
        await this.#current?.end();
        await ended;
      }
      this.#isReady = false;
      this.#current = null;
      if (!this.#stopping) await delay(PAUSE_MS);
    }
  }
}
