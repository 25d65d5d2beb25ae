import { homedir } from 'node:os';
import { join } from 'node:path';
import { WORKER_NODE_FLAGS } from '../worker/node-flags.ts';
import { forgetKeys, readKeys, type StackKeys, saveKeys } from './keys.ts';
import { type RunningPostgres, startPostgres } from './postgres.ts';
import { nodeCommand, projectDirectory, type RunningProcess, startProcess } from './processes.ts';
import { type Environment, type StackFacts, simulatedProviders, temporalEnvironment } from './stack-environment.ts';
import type { StackFoundation } from './stack-foundation.ts';
import type { RunningSimulators, StackOptions, StackParts } from './stack-options.ts';
import type { StackPorts } from './stack-ports.ts';
import { simulatorWebhooks } from './stack-webhooks.ts';
import type { StopList } from './stop-list.ts';
import { startTemporal } from './temporal.ts';
import { findTemporal } from './temporal-binary.ts';
import { defaultCacheDirectory } from './temporal-search.ts';
import { httpReady } from './wait-until.ts';

/** A start under way: what was asked for, and what it stands on. */
export interface StackStart extends StackOptions, StackFoundation {
  parts: StackParts;
  ports: StackPorts;
  stops: StopList;
  /** What simulated providers sign their events with. */
  webhookSecret: string;
}

/** Postgres with the current schema, and the keys of its first run. */
export async function startDatabase(start: StackStart): Promise<{ postgres: RunningPostgres; keys: StackKeys }> {
  const { parts, dataDirectory } = start;
  start.onProgress('starting Postgres');
  const postgres = await stoppable(
    start.stops,
    'postgres',
    startPostgres({ ...start, port: start.ports.postgres, log: start.onProgress }),
  );
  if (postgres.created) forgetKeys(dataDirectory);
  start.onProgress('bringing the database up to date');
  await parts.migrate(postgres.url);
  const kept = readKeys(dataDirectory);
  if (kept !== undefined) return { postgres, keys: kept };
  const keys = await parts.bootstrap(postgres.url, dataDirectory);
  saveKeys(dataDirectory, keys);
  return { postgres, keys };
}

export type Workflows = StackFacts['temporal'] & { pid(): number | undefined };

/** The Temporal server named in the environment, or one of our own, prepared for our workflows. */
export async function startWorkflows(start: StackStart): Promise<Workflows> {
  const { parts, environment, dataDirectory } = start;
  const found = await findTemporal({ ...start, cacheDirectory: defaultCacheDirectory(environment, homedir()) });
  const temporal =
    found.kind === 'server' ? givenTemporal(environment, found.address) : await ownTemporal(start, found.path);
  await parts.prepareTemporal?.(temporalEnvironment({ environment, dataDirectory, temporal }));
  return temporal;
}

async function ownTemporal(start: StackStart, executable: string): Promise<Workflows> {
  start.onProgress('starting Temporal');
  const server = startTemporal({
    ...start,
    executable,
    port: start.ports.temporal,
    uiPort: start.ports.temporalUi,
    searchAttributes: start.parts.searchAttributes,
    log: start.onProgress,
  });
  return { ...(await stoppable(start.stops, 'temporal', server)), ours: true };
}

function givenTemporal(environment: Environment, address: string): Workflows {
  return {
    address,
    namespace: environment['TEMPORAL_NAMESPACE'] || 'default',
    uiUrl: environment['BATCHGATE_TEMPORAL_UI_URL'] || null,
    ours: false,
    pid: () => undefined,
  };
}

/** The simulators, unless every provider has a key; one that does is left alone and stays unused. */
export async function startSimulated(start: StackStart): Promise<RunningSimulators | undefined> {
  if (!Object.values(simulatedProviders(start.environment)).includes(true)) return undefined;
  const simulators = start.parts.startSimulators({
    openaiPort: start.ports.openaiSimulator,
    anthropicPort: start.ports.anthropicSimulator,
    geminiPort: start.ports.geminiSimulator,
    controlPort: start.ports.simulatorControl,
    host: '127.0.0.1',
    settings: simulatorWebhooks(start.ports.api, start.webhookSecret),
    ...(start.ephemeral ? {} : { statePath: join(start.dataDirectory, 'simulators') }),
  });
  await stoppable(
    start.stops,
    'simulators',
    simulators.then((running) => ({ stop: () => running.close() })),
  );
  return simulators;
}

/** The api or the worker, ready when its `/readyz` on `healthPort` answers 200. */
export function startMain(
  start: StackStart,
  name: 'api' | 'worker',
  main: string,
  healthPort: number,
  env: Environment,
): Promise<RunningProcess> {
  const process = startProcess({
    ...nodeCommand(main, name === 'worker' ? WORKER_NODE_FLAGS : []),
    name,
    env,
    cwd: projectDirectory,
    logFile: join(start.dataDirectory, 'logs', `${name}.log`),
    channel: true,
    // Longer than either lets work under way come to its end.
    stopWaitMs: 30_000,
    readyWhen: httpReady(`http://127.0.0.1:${healthPort}/readyz`),
    signal: start.signal,
    reaper: start.reaper,
    records: start.records,
    log: start.onProgress,
  });
  return stoppable(start.stops, name, process);
}

/** Has what is being started stopped in its turn, also when the stop comes before it is up. */
function stoppable<T extends { stop(): Promise<void> }>(
  stops: StopList,
  name: string,
  starting: Promise<T>,
): Promise<T> {
  stops.add(name, async () => {
    const started = await starting.catch(() => undefined);
    await started?.stop();
  });
  return starting;
}
