import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { makeTelemetryFilterString, NativeConnection, Runtime } from '@temporalio/worker';
import { ByteBudget } from '../activities/byte-budget.ts';
import type { ActivityDependencies } from '../activities/dependencies.ts';
import { TransferSlots } from '../activities/transfer-slots.ts';
import { createArtifactStore } from '../artifacts/create-store.ts';
import { readWorkerConfig, type WorkerConfig } from '../config/env.ts';
import { openDatabase } from '../db/client.ts';
import { createCredentialStore } from '../db/credential-store.ts';
import {
  DEFAULT_INTAKE_LIMITS,
  DEFAULT_SPOOL_MEMORY_BYTES,
  type IntakeSettings,
} from '../db/intake/intake-settings.ts';
import { SpoolSpace } from '../db/intake/spool-space.ts';
import { ensurePartitions } from '../db/partitions.ts';
import { DEFAULT_THREAD_BOUNDS } from '../documents/document-threads.ts';
import { PdfTextReader } from '../documents/pdf-text-reader.ts';
import { ATTEMPT_TOKEN_BYTES, encodeAttemptToken } from '../domain/attempt-token.ts';
import { createGatewayCatalogue } from '../domain/gateway-catalogue.ts';
import type { Cipher } from '../encryption/cipher.ts';
import { createCipher } from '../encryption/create-cipher.ts';
import { createPayloadCodec } from '../encryption/payload-codec.ts';
import { environmentSettings } from '../providers/environment-settings.ts';
import { createAdapterMakers } from '../providers/registry.ts';
import { createProviderAdapters } from '../providers/stored-credentials.ts';
import { createLogger } from '../telemetry/logger.ts';
import { temporalLogger } from '../telemetry/temporal-logger.ts';
import { WEBHOOKS_QUEUE } from '../workflows/task-queues.ts';
import { createWorkers } from './create-workers.ts';
import { createDeliveryControl } from './delivery-control.ts';
import { createDocumentRunControl } from './document-run-control.ts';
import { startHealthServer } from './health.ts';
import { createJobWorkflowControl } from './job-workflow-control.ts';
import { createScheduleClockControl } from './schedule-clock-control.ts';
import { createTaskControl } from './task-control.ts';
import { createSchedules, findMissingSearchAttributes } from './temporal-setup.ts';
import { keepHeapTight } from './tight-heap.ts';
import { startWebhookDispatcher } from './webhook-dispatcher.ts';

const REQUEST_TIMEOUT_MS = 60_000;
/** A download or upload that moves no byte for this long is cut and tried again. */
const IDLE_TIMEOUT_MS = 60_000;
const SHARD_WINDOW = 8;
const TRANSFERS_AT_ONCE = 3;
/** Of files that are being read and sent, in all the forms in which they are in memory: one of the largest at a time. */
const DOCUMENT_BYTES = 160 * 1024 * 1024;
/** Receivers have to answer within it. */
const WEBHOOK_ANSWER_MS = 15_000;

keepHeapTight();
const config = readWorkerConfig();
const log = createLogger({ level: config.logLevel, service: 'worker' });
Runtime.install({
  logger: temporalLogger(log),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
  shutdownSignals: [],
});
await run(config);

async function run(config: WorkerConfig): Promise<void> {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  const connection = await NativeConnection.connect(connectionOptions);
  const missing = await findMissingSearchAttributes(connection, namespace);
  if (missing.length > 0)
    throw new Error(`search attributes are not registered: ${missing.join(', ')}. Run \`npm run temporal:setup\`.`);
  const cipher = createCipher(config.encryptionKeys);
  const dataConverter = { payloadCodecs: [createPayloadCodec(cipher, { encodes: config.sealsPayloads })] };
  const client = new Client({ connection, namespace, dataConverter });
  await createSchedules(client);
  const db = openDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    applicationName: 'batchgate-worker',
    onIdleError: (error) => log.warn({ err: error }, 'a database connection broke while idle'),
  });
  await ensurePartitions(db.pool, Date.now());

  const dependencies = await createDependencies(config, db, client, cipher);
  const workers = await createWorkers({
    connection,
    namespace,
    dataConverter,
    dependencies,
    schedules: {
      ...dependencies,
      intake: intakeSettings(config),
      allowedFetchHosts: config.allowedFetchHosts,
      clock: createScheduleClockControl(client),
    },
    webhooks: { ...dependencies, allowedFetchHosts: config.allowedFetchHosts, answerMs: WEBHOOK_ANSWER_MS },
    poolSize: config.databasePoolSize,
    tasksAtOnce: config.tasksAtOnce,
    queues: config.queues,
    ...(config.workflowBundle !== null && { workflowBundle: { codePath: config.workflowBundle } }),
  });
  const servesWebhooks = workers.some(({ options }) => options.taskQueue === WEBHOOKS_QUEUE);
  const dispatcher = servesWebhooks ? startWebhookDispatcher(dependencies) : null;
  const isReady = () => workers.every((worker) => worker.getState() === 'RUNNING');
  const health = await startHealthServer('0.0.0.0', config.healthPort, isReady);
  const stop = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  log.info({ queues: workers.map((worker) => worker.options.taskQueue) }, 'worker runs');
  try {
    await Promise.all(workers.map((worker) => worker.run()));
  } finally {
    health.close();
    await dispatcher?.stop();
    await db.close();
    await connection.close();
    log.info({}, 'worker stopped');
  }
}

/** Of its own folder: the api may run on the same machine. */
function intakeSettings({ spoolDir, spoolMaxBytes, maxLineBytes, maxItemsPerJob }: WorkerConfig): IntakeSettings {
  const directory = path.join(spoolDir, 'schedules');
  return {
    spool: { directory, memoryBytes: DEFAULT_SPOOL_MEMORY_BYTES, space: new SpoolSpace(spoolMaxBytes) },
    limits: { ...DEFAULT_INTAKE_LIMITS, maxLineBytes, maxItemsPerJob },
  };
}

async function createDependencies(
  config: WorkerConfig,
  db: ActivityDependencies['db'],
  client: Client,
  cipher: Cipher,
): Promise<ActivityDependencies> {
  return {
    db,
    providers: createProviderAdapters(
      createAdapterMakers(
        environmentSettings(config, { requestTimeoutMs: REQUEST_TIMEOUT_MS, idleTimeoutMs: IDLE_TIMEOUT_MS }),
      ),
      createCredentialStore(db.pool, cipher),
    ),
    catalogue: createGatewayCatalogue(config.providerFacts),
    cipher,
    artifacts: await createArtifactStore(config.artifacts, cipher),
    workflows: createJobWorkflowControl(client),
    deliveries: createDeliveryControl(client),
    tasks: createTaskControl(client),
    runs: createDocumentRunControl(client),
    transfers: new TransferSlots(TRANSFERS_AT_ONCE),
    pdfTexts: new PdfTextReader({ ...DEFAULT_THREAD_BOUNDS, threads: 1 }),
    documentBytes: new ByteBudget(DOCUMENT_BYTES),
    settings: {
      pollMinMs: config.pollMinMs,
      pollMaxMs: config.pollMaxMs,
      createDeadlineMs: config.createDeadlineMs,
      listingLagMs: config.listingLagMs,
      resultGraceMs: config.resultGraceMs,
      providerLostAfterMs: config.providerLostAfterMs,
      capacityRetryMs: config.capacityRetryMs,
      waitLimitMs: config.credentialWaitMs,
      capacityWaitMs: config.capacityWaitMs,
      shardWindow: SHARD_WINDOW,
      taskAttempts: config.taskAttempts,
      taskRetryMs: config.taskRetryMs,
      documentsAtOnce: config.documentsAtOnce,
      workDirectory: path.join(config.spoolDir, 'input'),
    },
    now: () => new Date(),
    random: Math.random,
    newAttemptToken: () => encodeAttemptToken(randomBytes(ATTEMPT_TOKEN_BYTES)),
    log,
  };
}
