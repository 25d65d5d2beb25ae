import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { type ApiConfig, readApiConfig } from '../config/env.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { createApp } from './app.ts';
import { DEFAULT_INTAKE_LIMITS, DEFAULT_SPOOL_MEMORY_BYTES, type IntakeSettings } from './intake/intake-settings.ts';
import { SpoolSpace } from './intake/spool-space.ts';
import { createJobWorkflows } from './temporal.ts';

/** Requests under way are given this long once the process is told to stop; those that wait longest wait this long. */
const STOP_GRACE_MS = 15_000;

const config = readApiConfig();
const logger = createLogger({ level: config.logLevel, service: 'api' });
const db = openDatabase({
  url: config.databaseUrl,
  poolSize: config.databasePoolSize,
  applicationName: 'batchgate-api',
  onIdleError: (error) => logger.warn({ err: error }, 'a database connection broke while idle'),
});
const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
// Lazy: the api answers reads, and takes drafts and items, while Temporal is away.
const connection = Connection.lazy(connectionOptions);
const app = createApp({
  db,
  workflows: createJobWorkflows(new Client({ connection, namespace })),
  intake: intakeSettings(config),
  logger,
  now: () => new Date(),
  temporalUi: config.temporalUiUrl === null ? null : { url: config.temporalUiUrl, namespace },
});

const server = serve({ fetch: app.fetch, hostname: config.host, port: config.port }, ({ address, port }: AddressInfo) =>
  logger.info({ address, port }, 'listening'),
);
server.once('error', (error) => {
  logger.error({ err: error }, 'cannot listen');
  process.exitCode = 1;
  void close(db, connection);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    logger.info({ signal }, 'stopping');
    void stop(server, logger).then(() => close(db, connection));
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

async function close(database: Database, temporal: Connection): Promise<void> {
  await Promise.allSettled([database.close(), temporal.close()]);
}
