import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';
import { inWhicheverScope } from '../../db/row-scope.ts';
import { RATE_WINDOW_SECONDS, type RateStanding } from '../../domain/rate-limit.ts';

/** A count that takes longer is not waited for: the call goes on, counted in this process alone. */
const STORE_WAIT_MS = 500;
/** After a failure the database is left alone for so long. */
const STORE_PAUSE_MS = 1_000;
/** What may be used is compared here, since each key has a limit of its own; the library only counts. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

const MEMORY_OPTIONS = { points: NO_LIMIT, duration: RATE_WINDOW_SECONDS };

/**
 * Counts what keys and addresses use in windows of a minute: in one row each, by one statement, so that all api processes on
 * a database count together. While the database does not answer, each process counts for itself: calls are neither
 * refused for that nor without a limit.
 */
export class RateCounter {
  readonly #pool: () => pg.Pool;
  readonly #onStoreAway: (error: unknown) => void;
  readonly #storeWaitMs: number;
  readonly #memory = new RateLimiterMemory(MEMORY_OPTIONS);
  #store: RateLimiterPostgres | null = null;
  #storeAwayUntil = 0;

  constructor(pool: () => pg.Pool, onStoreAway: (error: unknown) => void, storeWaitMs = STORE_WAIT_MS) {
    this.#pool = pool;
    this.#onStoreAway = onStoreAway;
    this.#storeWaitMs = storeWaitMs;
  }

  /** Takes `cost` units of the window of `subject` and says where it stands. Never throws. */
  async take(subject: string, cost: number, limit: number): Promise<RateStanding> {
    const { consumedPoints: used, msBeforeNext } = await this.#count(subject, cost);
    return { limit, used, resetMs: msBeforeNext };
  }

  async #count(subject: string, cost: number) {
    if (Date.now() < this.#storeAwayUntil) return this.#memory.consume(subject, cost);
    try {
      return await inTime(
        inWhicheverScope(() => this.#openStore().consume(subject, cost)),
        this.#storeWaitMs,
      );
    } catch (error) {
      this.#storeAwayUntil = Date.now() + STORE_PAUSE_MS;
      this.#onStoreAway(error);
      return this.#memory.consume(subject, cost);
    }
  }

  #openStore(): RateLimiterPostgres {
    this.#store ??= new RateLimiterPostgres({
      ...MEMORY_OPTIONS,
      storeClient: this.#pool(),
      storeType: 'pool',
      tableName: 'rate_limits',
      keyPrefix: '',
      tableCreated: true,
    });
    return this.#store;
  }
}

async function inTime<Result>(work: Promise<Result>, limitMs: number): Promise<Result> {
  const aborter = new AbortController();
  const tooLong = delay(limitMs, undefined, { signal: aborter.signal, ref: false }).then(
    () => Promise.reject(new Error(`the count of requests took longer than ${limitMs} ms`)),
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([work, tooLong]);
  } finally {
    aborter.abort();
  }
}
