import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import type { TestServer } from './test-server.ts';

export type StartServer = () => Promise<TestServer>;

interface Run {
  readonly servers: Promise<readonly TestServer[]>;
  users: number;
}

/** Vitest sets up each project by itself, in one process and with modules of its own; runs are shared through this key. */
const RUNS = Symbol.for('batchgate.tests.runs');
const shared = globalThis as { [RUNS]?: Map<string, Run> };

/** A vitest global set-up: starts the servers for the first project that needs them, stops them after the last. */
export async function shareServers(
  project: TestProject,
  name: string,
  starters: readonly StartServer[],
): Promise<() => Promise<void>> {
  shared[RUNS] ??= new Map();
  const runs = shared[RUNS];
  const run = runs.get(name) ?? { servers: startAll(starters), users: 0 };
  runs.set(name, run);
  run.users += 1;
  for (const { provides } of await run.servers) {
    for (const [key, value] of Object.entries(provides)) project.provide(key as keyof ProvidedContext, value);
  }
  return async () => {
    run.users -= 1;
    if (run.users > 0) return;
    runs.delete(name);
    await stopAll(await run.servers).catch((error: unknown) => {
      // Vitest only prints what a teardown throws.
      process.exitCode = 1;
      throw error;
    });
  };
}

async function startAll(starters: readonly StartServer[]): Promise<readonly TestServer[]> {
  const results = await Promise.allSettled(starters.map((start) => start()));
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
