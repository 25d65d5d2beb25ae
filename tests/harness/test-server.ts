import type { ProvidedContext } from 'vitest';

/** A server that every test file of a run shares: what tests are told of it, and how it ends. */
export interface TestServer {
  readonly provides: Partial<ProvidedContext>;
  /** Throws when tests left something behind on it. */
  stop(): Promise<void>;
}
