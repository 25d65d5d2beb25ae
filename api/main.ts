import type { Server } from 'node:http';
import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createArtifactStore } from '../artifacts/create-store.ts';
import { type ApiConfig, readApiConfig } from '../config/env.ts';
import { findRoleFault } from '../db/api-roles.ts';
import { openDatabase } from '../db/client.ts';
import { createCredentialStore } from '../db/credential-store.ts';
import {
  DEFAULT_INTAKE_LIMITS,
  DEFAULT_SPOOL_MEMORY_BYTES,
  type IntakeSettings,
} from '../db/intake/intake-settings.ts';
import { SpoolSpace } from '../db/intake/spool-space.ts';
import { Recogniser } from '../documents/recogniser.ts';
import { MAX_DOCUMENT_PIXELS } from '../domain/document-facts.ts';
import { createGatewayCatalogue } from '../domain/gateway-catalogue.ts';
import { createCipher } from '../encryption/create-cipher.ts';
import { createPayloadCodec } from '../encryption/payload-codec.ts';
import { environmentSettings } from '../providers/environment-settings.ts';
import { createAdapterMakers } from '../providers/registry.ts';
import { createProviderAdapters } from '../providers/stored-credentials.ts';
import { createWebhookVerifiers } from '../providers/webhooks.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { createApp } from './app.ts';
import { RequestLimits } from './limits/request-limits.ts';
import { createScheduleClock } from './schedule-clock.ts';
import { serveApi } from './server/http-server.ts';
import { createJobWorkflows } from './temporal.ts';
import { openTemporal } from './temporal-connection.ts';

/** Of providers, for results that stay with them: somebody waits for the answer. */
const PROVIDER_TIMEOUTS = { requestTimeoutMs: 30_000, idleTimeoutMs: 30_000 };
/** Requests under way are given this long once the process is told to stop; those that wait longest wait this long. */
const STOP_GRACE_MS = 15_000;

const config = readApiConfig();
const logger = createLogger({ level: config.logLevel, service: 'api' });
const db = openDatabase({
  url: config.databaseUrl,
  poolSize: config.databasePoolSize,
  isScoped: true,
  applicationName: 'batchgate-api',
  onIdleError: (error) => logger.warn({ err: error }, 'a database connection broke while idle'),
});
const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const connection = openTemporal(connectionOptions ?? {});
const cipher = createCipher(config.encryptionKeys);
const payloadCodecs = [createPayloadCodec(cipher, { encodes: config.sealsPayloads })];
const client = new Client({ connection, namespace, dataConverter: { payloadCodecs } });
const app = createApp({
  db,
  catalogue: createGatewayCatalogue(config.providerFacts),
  cipher,
  artifacts: await createArtifactStore(config.artifacts, cipher),
  workflows: createJobWorkflows(client),
  scheduleClock: createScheduleClock(client),
  allowedFetchHosts: config.allowedFetchHosts,
  providers: createProviderAdapters(
    createAdapterMakers(environmentSettings(config, PROVIDER_TIMEOUTS)),
    createCredentialStore(db.pool, cipher),
  ),
  providerWebhooks: createWebhookVerifiers(config.providerWebhooks),
  intake: intakeSettings(config),
  documents: {
    limits: { maxBytes: config.maxDocumentBytes, maxPages: config.maxDocumentPages, maxPixels: MAX_DOCUMENT_PIXELS },
    recogniser: new Recogniser(),
  },
  limits: new RequestLimits(
    config.limits,
    () => db.pool,
    (error) => logger.warn({ err: error }, 'requests are counted in this process alone'),
  ),
  logger,
  now: () => new Date(),
  temporalUi: config.temporalUiUrl === null ? null : { url: config.temporalUiUrl, namespace },
});

const server = serveApi(app, { host: config.host, port: config.port, ...config.server }, ({ address, port }) =>
  logger.info({ address, port }, 'listening'),
);
server.once('error', (error) => {
  logger.error({ err: error }, 'cannot listen');
  void db.close().finally(() => process.exit(1));
});
// The api starts without a database too, and asks it nothing outside of a scope; what is wrong for good is said at once.
findRoleFault(db).then(
  (fault) => {
    if (fault === null) return;
    logger.error(fault);
    void db.close().finally(() => process.exit(1));
  },
  (error: unknown) => logger.warn({ err: error }, 'the roles of the api could not be looked at'),
);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    logger.info({ signal }, 'stopping');
    // The connection to Temporal is left to the exit: closed under a call that nobody waits for any more, it would throw.
    void stop(server, logger)
      .then(() => db.close())
      .finally(() => process.exit());
  });
}

function intakeSettings({ spoolDir, spoolMaxBytes, ...limits }: ApiConfig): IntakeSettings {
  return {
    spool: {
      directory: spoolDir,
      memoryBytes: DEFAULT_SPOOL_MEMORY_BYTES,
      space: new SpoolSpace(spoolMaxBytes),
    },
    limits: {
      ...DEFAULT_INTAKE_LIMITS,
      maxLineBytes: limits.maxLineBytes,
      maxJsonBytes: limits.maxJsonBodyBytes,
      maxItemsPerJob: limits.maxItemsPerJob,
    },
  };
}

/** Takes no new connection, lets requests end, and cuts those that do not. */
async function stop(listening: Server, log: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  listening.close(() => resolve());
  listening.closeIdleConnections();
  const timer = setTimeout(() => {
    log.warn('requests were cut off by the stop');
    listening.closeAllConnections();
  }, STOP_GRACE_MS);
  await promise;
  clearTimeout(timer);
}
