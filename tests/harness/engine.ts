import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import type { EngineSettings } from '../../activities/dependencies.ts';
import type { ArtifactStore } from '../../artifacts/store.ts';
import type { ProviderFacts } from '../../config/env.ts';
import { createCredentialStore } from '../../db/credential-store.ts';
import type { Catalogue } from '../../domain/catalogue.ts';
import { createGatewayCatalogue } from '../../domain/gateway-catalogue.ts';
import { createPayloadCodec } from '../../encryption/payload-codec.ts';
import type { ProviderAdapters } from '../../providers/provider-adapters.ts';
import { createAdapterMakers, type ProviderSettings } from '../../providers/registry.ts';
import { createProviderAdapters } from '../../providers/stored-credentials.ts';
import { type Control, createControl } from '../../simulators/control-client.ts';
import { type Simulators, startSimulators } from '../../simulators/start.ts';
import { createWorkers } from '../../worker/create-workers.ts';
import { createDeliveryControl } from '../../worker/delivery-control.ts';
import { createDocumentRunControl } from '../../worker/document-run-control.ts';
import { createJobWorkflowControl } from '../../worker/job-workflow-control.ts';
import { createScheduleClockControl } from '../../worker/schedule-clock-control.ts';
import { createTaskControl } from '../../worker/task-control.ts';
import { startWebhookDispatcher } from '../../worker/webhook-dispatcher.ts';
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
  readonly providers: ProviderAdapters;
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
  /** Whether what Temporal keeps is sealed. */
  readonly sealsPayloads?: boolean;
  /** Where documents lie; without one there are none. */
  readonly artifacts?: ArtifactStore;
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
const WEBHOOK_ANSWER_MS = 5_000;

/**
 * Workers poll fixed queue names, and files share one server, so a file's engine runs in a namespace of its own.
 */
export async function startEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const database = await createTestDatabase({ poolSize: 24 });
  const simulators = await startSimulators({ settings: QUICK, ...options.simulators });
  const address = inject('temporalAddress');
  const namespace = await createNamespace(address);
  const connection = await NativeConnection.connect({ address });
  const payloadCodecs = [createPayloadCodec(TEST_CIPHER, { encodes: options.sealsPayloads ?? false })];
  const dataConverter = { payloadCodecs };
  const client = new Client({ connection, namespace, dataConverter });
  const providers = createProviderAdapters(
    createAdapterMakers({
      openai: { apiKey: 'sim-key', baseUrl: simulators.openaiUrl },
      anthropic: { apiKey: 'sim-key', baseUrl: simulators.anthropicUrl, apiVersion: TEST_FACTS.anthropicApiVersion },
      gemini: { apiKey: 'sim-key', baseUrl: simulators.geminiUrl },
      compatible: options.compatible?.(simulators) ?? [],
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      idleTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
    createCredentialStore(database.db.pool, TEST_CIPHER),
  );
  const base = testDependencies(database.db, {
    providers,
    workflows: createJobWorkflowControl(client),
    deliveries: createDeliveryControl(client),
    tasks: createTaskControl(client),
    runs: createDocumentRunControl(client),
    artifacts: options.artifacts ?? null,
  });
  const dependencies = {
    ...base,
    catalogue: createGatewayCatalogue({ ...TEST_FACTS, configured: options.configured ?? [] }),
    cipher: TEST_CIPHER,
    settings: { ...base.settings, ...options.settings },
  };

  let running: { workers: Worker[]; dispatcher: { stop(): Promise<void> }; done: Promise<unknown> } | null = null;
  const start = async (): Promise<void> => {
    const bundle = { codePath: inject('workflowBundle') };
    const workers = await createWorkers({
      connection,
      namespace,
      dataConverter,
      dependencies,
      schedules: {
        ...dependencies,
        intake: testIntake(),
        allowedFetchHosts: TEST_FETCH_HOSTS,
        clock: createScheduleClockControl(client),
      },
      webhooks: { ...dependencies, allowedFetchHosts: TEST_FETCH_HOSTS, answerMs: WEBHOOK_ANSWER_MS },
      poolSize: 12,
      tasksAtOnce: 50,
      queues: null,
      workflowBundle: bundle,
    });
    const dispatcher = startWebhookDispatcher(dependencies);
    running = { workers, dispatcher, done: Promise.all(workers.map((worker) => worker.run())) };
  };
  const stopWorkers = async (): Promise<void> => {
    for (const worker of running?.workers ?? []) worker.shutdown();
    await running?.dispatcher.stop();
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
