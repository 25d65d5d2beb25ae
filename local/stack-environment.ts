import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Environment = Record<string, string | undefined>;

/** Providers that the gateway can use here, each with the variables its official SDK reads. */
const PROVIDERS = {
  openai: {
    keyVariable: 'OPENAI_API_KEY',
    urlVariable: 'OPENAI_BASE_URL',
    urlPath: '/v1',
    webhookVariable: 'OPENAI_WEBHOOK_SECRET',
  },
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    urlVariable: 'ANTHROPIC_BASE_URL',
    urlPath: '',
    webhookVariable: null,
  },
  gemini: {
    keyVariable: 'GEMINI_API_KEY',
    urlVariable: 'GOOGLE_GEMINI_BASE_URL',
    urlPath: '',
    webhookVariable: 'GEMINI_WEBHOOK_SECRET',
  },
} as const;
export type ProviderName = keyof typeof PROVIDERS;
const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[];

/** Against a simulator nothing is gained by waiting as long as for a real provider. */
const SHORT_WAITS = {
  BATCHGATE_CREATE_DEADLINE_MS: '10000',
  BATCHGATE_LISTING_LAG_MS: '1000',
  BATCHGATE_RESULT_GRACE_MS: '2000',
  BATCHGATE_CAPACITY_RETRY_MS: '2000',
};
const SHORT_POLL = { minMs: 250, maxMs: 3_000 };

/** What the processes have to know of the servers that were started for them. */
export interface StackFacts {
  environment: Environment;
  dataDirectory: string;
  databaseUrl: string;
  apiPort: number;
  workerHealthPort: number;
  temporal: { address: string; namespace: string; uiUrl: string | null; ours: boolean };
  /** Base URL of each provider's simulator; null where the real provider is used. */
  simulators: Record<ProviderName, string | null>;
  /** What they sign their events with. */
  webhookSecret: string;
  /** What the gateway seals stored secrets with, as `BATCHGATE_ENCRYPTION_KEYS` takes it. */
  encryptionKeys: string;
}

/** True for the providers whose key is not in the environment: they are simulated. */
export function simulatedProviders(environment: Environment): Record<ProviderName, boolean> {
  const isSimulated = (name: ProviderName) => given(environment, PROVIDERS[name].keyVariable) === undefined;
  return { openai: isSimulated('openai'), anthropic: isSimulated('anthropic'), gemini: isSimulated('gemini') };
}

/**
 * Our environment with the Temporal server in it, as its client configuration reads it. A key or a certificate for some
 * other server must not be used with one that we started: neither one from the environment nor one from the profile that
 * Temporal's command line keeps in the user's home, hence another profile file.
 */
export function temporalEnvironment({
  environment,
  dataDirectory,
  temporal,
}: Pick<StackFacts, 'environment' | 'dataDirectory' | 'temporal'>): Environment {
  const server = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace };
  if (!temporal.ours) return { ...environment, ...server };
  const rest = Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_'));
  const profile = join(dataDirectory, 'temporal', 'profile.toml');
  return { ...Object.fromEntries(rest), ...server, TEMPORAL_CONFIG_FILE: profile };
}

/** The environment of the api: ours, with the addresses of what was started and of where the providers are. */
export function apiEnvironment(facts: StackFacts): Environment {
  return {
    ...temporalEnvironment(facts),
    DATABASE_URL: facts.databaseUrl,
    BATCHGATE_HOST: '127.0.0.1',
    BATCHGATE_PORT: String(facts.apiPort),
    BATCHGATE_SPOOL_DIR: join(facts.dataDirectory, 'spool'),
    BATCHGATE_ARTIFACT_STORE: given(facts.environment, 'BATCHGATE_ARTIFACT_STORE') ?? artifactFolder(facts),
    BATCHGATE_TEMPORAL_UI_URL: facts.temporal.uiUrl ?? undefined,
    BATCHGATE_ENCRYPTION_KEYS: facts.encryptionKeys,
    ...webhookVariables(facts),
    ...Object.assign({}, ...PROVIDER_NAMES.map((name) => simulatorVariables(name, facts.simulators[name]))),
  };
}

/** Documents are kept in it, and copies of results. */
function artifactFolder({ dataDirectory }: StackFacts): string {
  return pathToFileURL(join(dataDirectory, 'artifacts')).href;
}

/** The environment of the worker: that of the api, and short waits when none of them is real. */
export function workerEnvironment(facts: StackFacts): Environment {
  return {
    ...apiEnvironment(facts),
    BATCHGATE_WORKER_HEALTH_PORT: String(facts.workerHealthPort),
    ...(PROVIDER_NAMES.every((name) => facts.simulators[name] !== null) ? shortWaits(facts.environment) : {}),
  };
}

/** A real provider's secret is that of the environment. */
function webhookVariables({ simulators, webhookSecret }: StackFacts): Environment {
  const names = PROVIDER_NAMES.filter((name) => simulators[name] !== null);
  return Object.fromEntries(
    names.flatMap((name) => {
      const { webhookVariable } = PROVIDERS[name];
      return webhookVariable === null ? [] : [[webhookVariable, webhookSecret]];
    }),
  );
}

function simulatorVariables(name: ProviderName, url: string | null): Environment {
  if (url === null) return {};
  const { keyVariable, urlVariable, urlPath } = PROVIDERS[name];
  return { [keyVariable]: 'sim-key', [urlVariable]: url.endsWith(urlPath) ? url : `${url}${urlPath}` };
}

/** What is set in the environment stays; a poll pace of which one end is set keeps its ends in order. */
function shortWaits(environment: Environment): Environment {
  const minMs = given(environment, 'BATCHGATE_POLL_MIN_MS');
  const maxMs = given(environment, 'BATCHGATE_POLL_MAX_MS');
  const waits = {
    ...SHORT_WAITS,
    BATCHGATE_POLL_MIN_MS: String(Math.min(SHORT_POLL.minMs, Number(maxMs ?? SHORT_POLL.minMs))),
    BATCHGATE_POLL_MAX_MS: String(Math.max(SHORT_POLL.maxMs, Number(minMs ?? SHORT_POLL.maxMs))),
  };
  return Object.fromEntries(Object.entries(waits).map(([name, value]) => [name, given(environment, name) ?? value]));
}

/** A variable set to nothing is not set. */
function given(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined;
}
