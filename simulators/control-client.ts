import type { Fault, ScriptedFault } from './faults.ts';
import type { JournalEntry, JournalFilter } from './journal.ts';
import type { BatchChange } from './provider.ts';

export interface ClockView {
  now_ms: number;
  ahead_ms: number;
  speed: number;
}

/** The control port as functions; each throws an Error with the port's message when it refuses. */
export interface Control {
  advance(byMs: number): Promise<ClockView>;
  clock(): Promise<ClockView>;
  setSpeed(speed: number): Promise<ClockView>;
  /** Appends to the script. */
  faults(...faults: Fault[]): Promise<ScriptedFault[]>;
  remainingFaults(): Promise<ScriptedFault[]>;
  clearFaults(): Promise<void>;
  journal(filter?: JournalFilter): Promise<JournalEntry[]>;
  clearJournal(): Promise<void>;
  /** Changes settings, given per provider, and returns all of them. */
  settings(change?: Record<string, Record<string, unknown>>): Promise<Record<string, unknown>>;
  /** Forces a state or an end on a batch and returns it as its provider would show it. */
  batch(id: string, change: BatchChange): Promise<unknown>;
  batches(): Promise<Record<string, unknown[]>>;
  reset(): Promise<void>;
}

/** `url` is the control port's origin, e.g. `http://127.0.0.1:4010`. */
export function createControl(url: string): Control {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(new URL(`/control/${path}`, url), {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  const listFaults = async (method: string, body?: unknown) =>
    (await call<{ faults: ScriptedFault[] }>(method, 'faults', body)).faults;

  return {
    advance: (byMs) => call('POST', 'clock', { advance_ms: byMs }),
    clock: () => call('GET', 'clock'),
    setSpeed: (speed) => call('POST', 'clock', { speed }),
    faults: (...faults) => listFaults('POST', faults),
    remainingFaults: () => listFaults('GET'),
    clearFaults: () => call('DELETE', 'faults'),
    async journal(filter = {}) {
      const query = new URLSearchParams(
        Object.entries(filter).filter((pair): pair is [string, string] => pair[1] !== undefined),
      );
      return (await call<{ entries: JournalEntry[] }>('GET', `journal?${query}`)).entries;
    },
    clearJournal: () => call('DELETE', 'journal'),
    settings: (change) => (change === undefined ? call('GET', 'settings') : call('PUT', 'settings', change)),
    batch: (id, change) => call('POST', `batches/${encodeURIComponent(id)}`, change),
    batches: () => call('GET', 'batches'),
    reset: () => call('POST', 'reset'),
  };
}
