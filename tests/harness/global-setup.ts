import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { startTestPostgres } from './postgres-server.ts';

/** A server that every test file of a run shares: what tests are told of it, and how it ends. */
export interface TestServer {
  readonly provides: Partial<ProvidedContext>;
  /** Throws when tests left something behind on it. */
  stop(): Promise<void>;
}

/** Each server that is started once for a run. */
const STARTERS: readonly (() => Promise<TestServer>)[] = [startTestPostgres];

interface Run {
  readonly servers: Promise<readonly TestServer[]>;
  users: number;
}

/** Vitest sets up each project by itself, in one process and with modules of its own; the run is shared through this key. */
const RUN = Symbol.for('batchgate.tests.run');
const shared = globalThis as { [RUN]?: Run | undefined };

/** Starts the servers for the first project that needs them, stops them after the last. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared[RUN] ??= { servers: startAll(), users: 0 };
  const run = shared[RUN];
  run.users += 1;
  for (const { provides } of await run.servers) {
    for (const [key, value] of Object.entries(provides)) project.provide(key as keyof ProvidedContext, value);
  }
  return async () => {
    run.users -= 1;
    if (run.users > 0) return;
    shared[RUN] = undefined;
    await stopAll(await run.servers);
  };
}

async function startAll(): Promise<readonly TestServer[]> {
  const results = await Promise.allSettled(STARTERS.map((start) => start()));
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure === undefined) return servers;
  await stopAll(servers);
  throw failure.reason;
}

async function stopAll(servers: readonly TestServer[]): Promise<void> {
  const results = await Promise.allSettled(servers.map((server) => server.stop()));
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (reasons.length > 0) throw new AggregateError(reasons, reasons.map(String).join('\n'));
}
