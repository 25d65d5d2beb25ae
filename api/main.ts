import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { type ApiConfig, readApiConfig } from '../config/env.ts';
import { openDatabase } from '../db/client.ts';
import {
  DEFAULT_INTAKE_LIMITS,
  DEFAULT_SPOOL_MEMORY_BYTES,
  type IntakeSettings,
} from '../db/intake/intake-settings.ts';
import { SpoolSpace } from '../db/intake/spool-space.ts';
import { createGatewayCatalogue } from '../domain/gateway-catalogue.ts';
import { createCipher } from '../encryption/create-cipher.ts';
import { createWebhookVerifiers } from '../providers/webhooks.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { createApp } from './app.ts';
import { createScheduleClock } from './schedule-clock.ts';
import { createJobWorkflows } from './temporal.ts';
import { openTemporal } from './temporal-connection.ts';

/** Requests under way are given this long once the process is told to stop; those that wait longest wait this long. */
const STOP_GRACE_MS = 15_000;
/** An upload of a million items over a slow line takes hours; Node's own limit is five minutes. */
const REQUEST_TIMEOUT_MS = 6 * 60 * 60_000;

const config = readApiConfig();
const logger = createLogger({ level: config.logLevel, service: 'api' });
const db = openDatabase({
  url: config.databaseUrl,
  poolSize: config.databasePoolSize,
  applicationName: 'batchgate-api',
  onIdleError: (error) => logger.warn({ err: error }, 'a database connection broke while idle'),
});
const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const connection = openTemporal(connectionOptions ?? {});
const client = new Client({ connection, namespace });
const app = createApp({
  db,
  catalogue: createGatewayCatalogue(config.providerFacts),
  cipher: createCipher(config.encryptionKeys),
  workflows: createJobWorkflows(client),
  scheduleClock: createScheduleClock(client),
  allowedFetchHosts: config.allowedFetchHosts,
  providerWebhooks: createWebhookVerifiers(config.providerWebhooks),
  intake: intakeSettings(config),
  logger,
  now: () => new Date(),
  temporalUi: config.temporalUiUrl === null ? null : { url: config.temporalUiUrl, namespace },
});

const server = serve(
  {
    fetch: app.fetch,
    hostname: config.host,
    port: config.port,
    serverOptions: { requestTimeout: REQUEST_TIMEOUT_MS },
  },
  ({ address, port }: AddressInfo) => logger.info({ address, port }, 'listening'),
);
server.once('error', (error) => {
  logger.error({ err: error }, 'cannot listen');
  void db.close().finally(() => process.exit(1));
});
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
async function stop(listening: ServerType, log: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  listening.close(() => resolve());
  if ('closeIdleConnections' in listening) listening.closeIdleConnections();
  const timer = setTimeout(() => {
    log.warn('requests were cut off by the stop');
    if ('closeAllConnections' in listening) listening.closeAllConnections();
  }, STOP_GRACE_MS);
  await promise;
  clearTimeout(timer);
}
