import type { WavePlan } from '../../activities/interfaces.ts';

/** A wave of retries as a job's rows would have it. */
export interface WaveScript {
  readonly items: number;
  readonly delayMs: number;
  /** Whether the hold covers it when its time has come; true unless said. */
  readonly starts?: boolean;
}

/** The waves of one job, in memory. */
export class FakeWaves {
  readonly #scripts: readonly WaveScript[];
  readonly #addShard: () => void;
  /** The second try of its items is wave 2. */
  #wave = 1;
  #dueAt: number | null = null;
  #isOver = false;

  constructor(scripts: readonly WaveScript[], addShard: () => void) {
    this.#scripts = scripts;
    this.#addShard = addShard;
  }

  plan(isCancelled: boolean): WavePlan {
    if (this.#dueAt !== null) return this.#planned(this.#dueAt);
    const next = this.#scripts[this.#wave - 1];
    if (next === undefined || isCancelled || this.#isOver) return { kind: 'none' };
    this.#wave += 1;
    this.#dueAt = Date.now() + next.delayMs;
    return this.#planned(this.#dueAt);
  }

  start(wave: number, isCancelled: boolean): { started: boolean } {
    if (wave !== this.#wave) throw new Error(`wave ${wave} is not the last that was planned`);
    if (this.#dueAt === null) return { started: !this.#isOver };
    this.#dueAt = null;
    const started = !isCancelled && (this.#scripts[wave - 2]?.starts ?? true);
    if (started) this.#addShard();
    else this.#isOver = true;
    return { started };
  }

  #planned(dueAt: number): WavePlan {
    const items = this.#scripts[this.#wave - 2]?.items ?? 0;
    return { kind: 'wave', wave: this.#wave, items, delayMs: Math.max(0, dueAt - Date.now()) };
  }
}
