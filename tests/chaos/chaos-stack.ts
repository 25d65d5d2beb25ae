import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { type Database, openDatabase } from '../../db/client.ts';
import { migrate } from '../../db/migrations.ts';
import { choosePort } from '../../local/ports.ts';
import { startReaper } from '../../local/reaper.ts';
import { sendSignal } from '../../local/running-process.ts';
import { newWebhookSecret, simulatorWebhooks } from '../../local/stack-webhooks.ts';
import { createStopList } from '../../local/stop-list.ts';
import { type Control, createControl } from '../../simulators/control-client.ts';
import { startSimulators } from '../../simulators/start.ts';
import { startGatewayProcess } from '../harness/gateway-process.ts';
import { KeptProcess } from './kept-process.ts';
import { startDatabase, startWorkflowServer, writeWorkflowBundle } from './servers.ts';

/** Short, with the order of lengths that production has. */
const PACES = {
  BATCHGATE_POLL_MIN_MS: '50',
  BATCHGATE_POLL_MAX_MS: '400',
  BATCHGATE_CREATE_DEADLINE_MS: '3000',
  BATCHGATE_LISTING_LAG_MS: '600',
  BATCHGATE_RESULT_GRACE_MS: '200',
  BATCHGATE_PROVIDER_LOST_AFTER_MS: '8000',
  BATCHGATE_CAPACITY_RETRY_MS: '200',
};

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000;

/** Long enough for most acts to meet a batch that is under way. A jump beyond all windows takes no results with it. */
const PROVIDER_TIMES = {
  openai: { validatingMs: 150, inProgressMs: 900, finalizingMs: 150, cancellingMs: 200 },
  anthropic: { inProgressMs: 1_000, endingMs: 150, cancelingMs: 200 },
  gemini: {
    pendingMs: 150,
    runningMs: 900,
    cancellingMs: 200,
    fileLifeMs: THIRTY_DAYS_MS,
    outputFileLifeMs: THIRTY_DAYS_MS,
  },
};

const WORKERS = 2;
const POSTGRES_SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT', crash: 'SIGKILL' } as const;

/** The whole gateway as processes, all of which can be killed and come back. */
export interface ChaosStack {
  readonly apiUrl: string;
  readonly db: Database;
  readonly control: Control;
  readonly temporal: Client;
  /** Logs and data. */
  readonly directory: string;
  killApi(): void;
  killWorker(index: number): void;
  freezeWorker(index: number, forMs: number): Promise<void>;
  restartTemporal(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  restartPostgres(mode: keyof typeof POSTGRES_SIGNALS): Promise<void>;
  /** Ends every connection of the gateway's own processes, as a failover of the database does. */
  cutConnections(): Promise<void>;
  /** Resolves once every process runs and answers. */
  ready(): Promise<void>;
  stop(options?: { keepFolder?: boolean }): Promise<void>;
}

/** Starts Postgres, Temporal, the simulators, an api and two workers on a temporary folder. `env` is added to what these are given. */
export async function startChaosStack(env: Readonly<Record<string, string>> = {}): Promise<ChaosStack> {
  const stops = createStopList(() => undefined);
  try {
    return await startAll(stops, env);
  } catch (error) {
    await stops.stopAll();
    throw error;
  }
}

async function startAll(
  stops: ReturnType<typeof createStopList>,
  env: Readonly<Record<string, string>>,
): Promise<ChaosStack> {
  const directory = await mkdtemp(join(tmpdir(), 'batchgate-chaos-'));
  // Postgres may run as another user, who has to pass.
  await chmod(directory, 0o711);
  const reaper = startReaper(process.env);
  reaper.removeOnDeath(directory);
  stops.add('reaper', () => reaper.stop());

  const folder = { directory, reaper };
  const apiPort = await choosePort(0);
  const secret = newWebhookSecret();
  const webhooks = simulatorWebhooks(apiPort, secret);
  const [postgres, temporal, simulators, bundle] = await Promise.all([
    startDatabase(folder).then((server) => stoppable(stops, 'postgres', server)),
    startWorkflowServer(folder).then((server) => stoppable(stops, 'temporal', server)),
    startSimulators({
      settings: {
        openai: { ...PROVIDER_TIMES.openai, ...webhooks.openai },
        anthropic: PROVIDER_TIMES.anthropic,
        gemini: { ...PROVIDER_TIMES.gemini, ...webhooks.gemini },
      },
    }),
    writeWorkflowBundle(directory),
  ]);
  stops.add('simulators', () => simulators.close());
  const { url: databaseUrl } = postgres.running();
  await migrate(databaseUrl);
  const db = openDatabase({ url: databaseUrl, poolSize: 6, applicationName: 'chaos', onIdleError: () => undefined });
  stops.add('database connections', () => db.close());
  const { address, namespace } = temporal.running();
  const connection = Connection.lazy({ address });
  stops.add('temporal connection', () => connection.close());

  const servers = {
    databaseUrl,
    temporalAddress: address,
    namespace,
    openaiUrl: simulators.openaiUrl,
    anthropicUrl: simulators.anthropicUrl,
    geminiUrl: simulators.geminiUrl,
    env: {
      ...PACES,
      OPENAI_WEBHOOK_SECRET: secret,
      GEMINI_WEBHOOK_SECRET: secret,
      BATCHGATE_WORKFLOW_BUNDLE: bundle,
      ...env,
    },
  };
  const keep = (name: 'api' | 'worker', port: number) =>
    new KeptProcess((launched) => startGatewayProcess({ name, port, servers, folder: directory, reaper }, launched));
  const api = keep('api', apiPort);
  const workers: KeptProcess[] = [];
  for (let index = 0; index < WORKERS; index += 1) workers.push(keep('worker', await choosePort(0)));
  const processes = [api, ...workers];
  stops.add('processes', async () => {
    await Promise.all(processes.map((each) => each.stop()));
  });
  await Promise.all(processes.map((each) => each.start()));

  return {
    apiUrl: `http://127.0.0.1:${apiPort}`,
    db,
    control: createControl(simulators.controlUrl),
    temporal: new Client({ connection, namespace }),
    directory,
    killApi: () => api.kill(),
    killWorker: (index) => workers[index]?.kill(),
    freezeWorker: async (index, forMs) => {
      const pid = workers[index]?.pid;
      if (pid === undefined) return;
      sendSignal(pid, 'SIGSTOP');
      await delay(forMs);
      sendSignal(pid, 'SIGCONT');
    },
    restartTemporal: (signal) => temporal.restart(signal),
    restartPostgres: (mode) => postgres.restart(POSTGRES_SIGNALS[mode]),
    cutConnections: () => cutConnections(databaseUrl),
    ready: async () => {
      await Promise.all(processes.map((each) => each.ready()));
    },
    stop: async ({ keepFolder = false } = {}) => {
      if (keepFolder) reaper.keep(directory);
      await stops.stopAll();
      if (!keepFolder) await rm(directory, { recursive: true, force: true });
    },
  };
}

function stoppable<Server extends { stop(): Promise<void> }>(
  stops: ReturnType<typeof createStopList>,
  name: string,
  server: Server,
): Server {
  stops.add(name, () => server.stop());
  return server;
}

async function cutConnections(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'batchgate-%'",
    );
  } finally {
    await client.end();
  }
}
