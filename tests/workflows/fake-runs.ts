import type {
  DocumentActivities,
  DocumentRunActivities,
  DocumentRunStep,
  DocumentStep,
} from '../../activities/interfaces.ts';

export const AGAIN: DocumentStep = { kind: 'again' };
const IDLE: DocumentStep = { kind: 'idle' };
const OVER: DocumentRunStep = { kind: 'over' };

/** What a run answers: its reviews and its attempts, each from the front. Beyond the lists it is over, and nothing is left. */
export interface RunScript {
  readonly reviews?: readonly DocumentRunStep[];
  readonly attempts?: readonly DocumentStep[];
}

export interface RunCalls {
  readonly reviews: { readonly cancel: boolean }[];
  attempts: number;
  writes: number;
  /** Attempts at once, at most. */
  mostAtOnce: number;
}

/** Runs over documents by rows in memory. A review with a cancel ends any. */
export class FakeRuns {
  readonly #scripts = new Map<string, RunScript>();
  readonly #calls = new Map<string, RunCalls>();
  readonly #atOnce = new Map<string, number>();
  /** Awaited in each attempt, once it is counted. */
  held: Promise<unknown> = Promise.resolve();

  add(runId: string, script: RunScript): void {
    this.#scripts.set(runId, script);
    this.#calls.set(runId, { reviews: [], attempts: 0, writes: 0, mostAtOnce: 0 });
  }

  callsOf(runId: string): RunCalls {
    const calls = this.#calls.get(runId);
    if (calls === undefined) throw new Error(`no run ${runId}`);
    return calls;
  }

  database(): DocumentRunActivities {
    return {
      reviewRun: async ({ runId, cancel = false }) => {
        const calls = this.callsOf(runId);
        calls.reviews.push({ cancel });
        if (cancel) return OVER;
        return this.#scripts.get(runId)?.reviews?.[calls.reviews.length - 1] ?? OVER;
      },
    };
  }

  direct(): DocumentActivities {
    return {
      writeRequests: async ({ runId }) => {
        this.callsOf(runId).writes += 1;
        return { left: 0 };
      },
      attemptDocument: async ({ runId }) => {
        const calls = this.callsOf(runId);
        const atOnce = (this.#atOnce.get(runId) ?? 0) + 1;
        this.#atOnce.set(runId, atOnce);
        calls.mostAtOnce = Math.max(calls.mostAtOnce, atOnce);
        const step = this.#scripts.get(runId)?.attempts?.[calls.attempts] ?? IDLE;
        calls.attempts += 1;
        await this.held;
        this.#atOnce.set(runId, (this.#atOnce.get(runId) ?? 1) - 1);
        return step;
      },
    };
  }
}
