import { GatewayError } from '../../domain/gateway-error.ts';

/** A burst is let through within this; what lasts longer is more than there is room for. */
const WAIT_MS = 250;
const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  readonly start: () => void;
}

/**
 * Places for tasks on their way: from before they are stored until Temporal has their workflow. Those who come when all are
 * taken wait a moment in their order, so that Postgres and Temporal are given no more than they get done.
 */
export class TaskStarts {
  readonly #max: number;
  readonly #waitMs: number;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor(max: number, waitMs = WAIT_MS) {
    this.#max = max;
    this.#waitMs = waitMs;
  }

  /** What gives the place back, once. Throws `rate_limited` where none came free in time: nothing was stored yet. */
  async take(): Promise<() => void> {
    if (this.#taken < this.#max) this.#taken += 1;
    else await this.#wait();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#giveBack();
    };
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.start();
  }

  #wait(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // More than twice as many would not get a place in time either.
    if (this.#waiting.size >= 2 * this.#max) return Promise.reject(refusal(this.#max));
    const waiting = {
      start: () => {
        clearTimeout(timer);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      reject(refusal(this.#max));
    }, this.#waitMs);
    this.#waiting.add(waiting);
    return promise;
  }
}

function refusal(max: number): GatewayError {
  const message = `This server is starting ${max} tasks, as many as it may at once. Nothing was stored; send it again in a second.`;
  return new GatewayError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
