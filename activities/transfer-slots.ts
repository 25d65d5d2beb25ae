import { beat } from './heartbeats.ts';

const BEAT_WHILE_WAITING_MS = 5_000;

/**
 * Bounds how many input and result files this worker moves at once, so that memory, disk and connections do not grow
 * with the number of jobs. Those that wait stay alive by heartbeat, and polls pass them by.
 */
export class TransferSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#take();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  async #take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const timer = setInterval(beat, BEAT_WHILE_WAITING_MS);
    try {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } finally {
      clearInterval(timer);
    }
  }
}
