import { join } from 'node:path';
import { encryptionKeys } from './encryption-keys.ts';
import type { StackKeys } from './keys.ts';
import { projectDirectory } from './processes.ts';
import { apiEnvironment, type StackFacts, simulatedProviders, workerEnvironment } from './stack-environment.ts';
import { layFoundation } from './stack-foundation.ts';
import type { Stack, StackOptions, StackParts, StackReady } from './stack-options.ts';
import { chooseStackPorts } from './stack-ports.ts';
import { type StackStart, startDatabase, startMain, startSimulated, startWorkflows } from './stack-servers.ts';
import { newWebhookSecret } from './stack-webhooks.ts';
import { createStopList } from './stop-list.ts';

/**
 * Starts Postgres, Temporal, the simulators of providers without a key, the api and the worker, and resolves when all
 * of them answer. Rejects with one sentence, with nothing left running, when any of them does not start.
 */
export async function startStack(options: StackOptions, parts: StackParts): Promise<Stack> {
  const stops = createStopList(options.onProgress);
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  try {
    signal.throwIfAborted();
    const foundation = await layFoundation(options, stops);
    const ports = await chooseStackPorts(options.port);
    if (options.port !== 0 && ports.api !== options.port) {
      options.onProgress(`port ${options.port} is taken, the api gets ${ports.api}`);
    }
    const webhookSecret = newWebhookSecret();
    const start = { ...options, ...foundation, parts, ports, stops, signal, webhookSecret };
    return { ...(await startAll(start)), stop: stops.stopAll };
  } catch (error) {
    failed.abort(error);
    await stops.stopAll();
    throw error;
  }
}

async function startAll(start: StackStart): Promise<Omit<Stack, 'stop'>> {
  const [database, temporal, simulators] = await Promise.all([
    startDatabase(start),
    startWorkflows(start),
    startSimulated(start),
  ]);
  start.signal?.throwIfAborted();
  const { ports, parts } = start;
  const simulated = simulatedProviders(start.environment);
  const facts: StackFacts = {
    environment: start.environment,
    dataDirectory: start.dataDirectory,
    databaseUrl: database.postgres.url,
    apiPort: ports.api,
    workerHealthPort: ports.workerHealth,
    webhookSecret: start.webhookSecret,
    encryptionKeys: encryptionKeys(start),
    temporal,
    simulators: {
      openai: simulated.openai ? (simulators?.openaiUrl ?? null) : null,
      anthropic: simulated.anthropic ? (simulators?.anthropicUrl ?? null) : null,
      gemini: simulated.gemini ? (simulators?.geminiUrl ?? null) : null,
    },
  };
  start.onProgress('starting the api and the worker');
  const apiMain = parts.apiMain ?? join(projectDirectory, 'api', 'main.ts');
  const workerMain = parts.workerMain ?? join(projectDirectory, 'worker', 'main.ts');
  const [api, worker] = await Promise.all([
    startMain(start, 'api', apiMain, ports.api, apiEnvironment(facts)),
    startMain(start, 'worker', workerMain, ports.workerHealth, workerEnvironment(facts)),
  ]);
  return {
    pids: () => ({
      postgres: database.postgres.pid(),
      temporal: temporal.pid(),
      api: api.pid(),
      worker: worker.pid(),
    }),
    ready: readyLine(facts, database.keys, simulators?.controlUrl ?? null),
  };
}

function readyLine(facts: StackFacts, keys: StackKeys, controlUrl: string | null): StackReady {
  return {
    ready: true,
    api_url: `http://127.0.0.1:${facts.apiPort}`,
    admin_key: keys.adminKey,
    operator_key: keys.operatorKey,
    tenant_key: keys.tenantKey,
    temporal_address: facts.temporal.address,
    temporal_ui_url: facts.temporal.uiUrl,
    temporal_namespace: facts.temporal.namespace,
    database_url: facts.databaseUrl,
    simulators: {
      openai_url: facts.simulators.openai,
      anthropic_url: facts.simulators.anthropic,
      gemini_url: facts.simulators.gemini,
      control_url: controlUrl,
    },
  };
}
