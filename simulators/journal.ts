import type { Clock } from './clock.ts';

/** Small facts of a request: ids, labels and sizes, never a body. */
export type Facts = Record<string, unknown>;

/** One request as a simulator saw it; times are unix milliseconds of the simulators' clock. */
export interface JournalEntry {
  seq: number;
  at: number;
  provider: string;
  route: string;
  method: string;
  path: string;
  /** Null while unanswered, and for good when the socket was dropped. */
  status: number | null;
  /** Null while the reply is still being sent. */
  ended_at: number | null;
  /** What the fault that fired on it does. */
  fault?: readonly string[];
  facts: Facts;
}

export interface JournalFilter {
  provider?: string | undefined;
  route?: string | undefined;
}

export interface Journal {
  /** Adds an entry; the returned object stays live, so its status and facts may be set later. */
  open(entry: Pick<JournalEntry, 'provider' | 'route' | 'method' | 'path'> & { facts?: Facts }): JournalEntry;
  end(entry: JournalEntry, status?: number): void;
  list(filter?: JournalFilter): JournalEntry[];
  clear(): void;
}

/** Keeps the newest `capacity` entries, so that a simulator left running for weeks does not grow. */
export function createJournal(clock: Clock, capacity = 50_000): Journal {
  let entries: JournalEntry[] = [];
  let seq = 0;
  return {
    open({ facts = {}, ...request }) {
      seq += 1;
      const entry: JournalEntry = { seq, at: clock.now(), ...request, status: null, ended_at: null, facts };
      entries.push(entry);
      if (entries.length > capacity * 1.1) entries = entries.slice(-capacity);
      return entry;
    },
    end(entry, status) {
      if (status !== undefined) entry.status = status;
      entry.ended_at ??= clock.now();
    },
    list: ({ provider, route } = {}) =>
      entries.filter(
        (entry) =>
          (provider === undefined || entry.provider === provider) && (route === undefined || entry.route === route),
      ),
    clear() {
      entries = [];
    },
  };
}
