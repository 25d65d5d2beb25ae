import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import type { EngineSettings } from '../../activities/dependencies.ts';
import type { ProviderFacts } from '../../config/env.ts';
import type { Catalogue } from '../../domain/catalogue.ts';
import { createGatewayCatalogue } from '../../domain/gateway-catalogue.ts';
import { createProviders, type ProviderSettings } from '../../providers/registry.ts';
import { type Control, createControl } from '../../simulators/control-client.ts';
import { type Simulators, startSimulators } from '../../simulators/start.ts';
import { createWorkers } from '../../worker/create-workers.ts';
import { createJobWorkflowControl } from '../../worker/job-workflow-control.ts';
import { createScheduleClockControl } from '../../worker/schedule-clock-control.ts';
import { TEST_CIPHER, TEST_FACTS, testDependencies } from './activities.ts';
import { createNamespace } from './namespace.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { TEST_FETCH_HOSTS, testIntake } from './test-intake.ts';

/** Everything but HTTP: a database, the simulators, and workers on the shared Temporal server, all in this process. */
export interface TestEngine {
  readonly database: TestDatabase;
  readonly simulator: Control;
  readonly client: Client;
  readonly namespace: string;
  readonly openaiUrl: string;
  readonly anthropicUrl: string;
  readonly geminiUrl: string;
  readonly catalogue: Catalogue;
  readonly providers: ReturnType<typeof createProviders>;
  /** Tells the workers to stop, waits for what they are at, and starts new ones. */
  restartWorkers(): Promise<void>;
  /** Until `startWorkers` nobody works. */
  stopWorkers(): Promise<void>;
  startWorkers(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestEngineOptions {
  readonly settings?: Partial<EngineSettings>;
  readonly simulators?: Parameters<typeof startSimulators>[0];
  /** Providers beside the built-in three: how to reach them, and what is known of them. */
  readonly compatible?: (simulators: Simulators) => NonNullable<ProviderSettings['compatible']>;
  readonly configured?: ProviderFacts['configured'];
  /** False where workers are processes of their own. */
  readonly workers?: boolean;
}

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
});

const QUICK = {
  openai: { validatingMs: 0, inProgressMs: 0, finalizingMs: 0, cancellingMs: 0 },
  anthropic: { inProgressMs: 0, endingMs: 0, cancelingMs: 0 },
  gemini: { pendingMs: 0, runningMs: 0, cancellingMs: 0 },
};
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Workers poll fixed queue names, and files share one server, so a file's engine runs in a namespace of its own.
 */
export async function startEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const database = await createTestDatabase({ poolSize: 24 });
  const simulators = await startSimulators({ settings: QUICK, ...options.simulators });
  const address = inject('temporalAddress');
  const namespace = await createNamespace(address);
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace });
  const providers = createProviders({
    openai: { apiKey: 'sim-key', baseUrl: simulators.openaiUrl },
    anthropic: { apiKey: 'sim-key', baseUrl: simulators.anthropicUrl, apiVersion: TEST_FACTS.anthropicApiVersion },
    gemini: { apiKey: 'sim-key', baseUrl: simulators.geminiUrl },
    compatible: options.compatible?.(simulators) ?? [],
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    idleTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const base = testDependencies(database.db, { providers, workflows: createJobWorkflowControl(client) });
  const dependencies = {
    ...base,
    catalogue: createGatewayCatalogue({ ...TEST_FACTS, configured: options.configured ?? [] }),
    cipher: TEST_CIPHER,
    settings: { ...base.settings, ...options.settings },
  };

  let running: { workers: Worker[]; done: Promise<unknown> } | null = null;
  const start = async (): Promise<void> => {
    const bundle = { codePath: inject('workflowBundle') };
    const workers = await createWorkers({
      connection,
      namespace,
      dependencies,
      schedules: {
        ...dependencies,
        intake: testIntake(),
        allowedFetchHosts: TEST_FETCH_HOSTS,
        clock: createScheduleClockControl(client),
      },
      poolSize: 12,
      queues: null,
      workflowBundle: bundle,
    });
    running = { workers, done: Promise.all(workers.map((worker) => worker.run())) };
  };
  const stopWorkers = async (): Promise<void> => {
    for (const worker of running?.workers ?? []) worker.shutdown();
    await running?.done;
    running = null;
  };
  if (options.workers !== false) await start();
  return {
    database,
    simulator: createControl(simulators.controlUrl),
    client,
    namespace,
    openaiUrl: simulators.openaiUrl,
    anthropicUrl: simulators.anthropicUrl,
    geminiUrl: simulators.geminiUrl,
    catalogue: dependencies.catalogue,
    providers,
    restartWorkers: async () => {
      await stopWorkers();
      await start();
    },
    stopWorkers,
    startWorkers: start,
    stop: async () => {
      await stopWorkers();
      await connection.close();
      await simulators.close();
      await database.drop();
    },
  };
}
