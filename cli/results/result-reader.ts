import type { Query } from '../client.ts';
import type { TenantCalls } from '../gateway.ts';
import type { Result } from './result-line.ts';

const PAGE_SIZE = 1000;

/** Follows the results of a job by their cursor: each settled item once, whether the job still runs or not. */
export class ResultReader {
  readonly #calls: Pick<TenantCalls, 'listResults'>;
  readonly #jobId: string;
  readonly #query: Query;
  #cursor: string | undefined;
  #isOver = false;

  constructor(calls: Pick<TenantCalls, 'listResults'>, jobId: string, query: Query = {}) {
    this.#calls = calls;
    this.#jobId = jobId;
    this.#query = query;
  }

  /** True once the job has ended and every result was read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The pages of what has settled since the last call. */
  async *newPages(): AsyncGenerator<readonly Result[]> {
    while (!this.#isOver) {
      const query = { ...this.#query, limit: PAGE_SIZE, cursor: this.#cursor };
      const { data, next_cursor: next } = await this.#calls.listResults(this.#jobId, query);
      if (data.length > 0) yield data;
      // Only now: a page that could not be written is read again.
      this.#isOver = next === null;
      this.#cursor = next ?? this.#cursor;
      if (data.length === 0) return;
    }
  }
}
