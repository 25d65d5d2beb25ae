import { z } from 'zod';
import { type Jwks, readJwksFile } from './jwks-file.ts';
import { type HttpServerSettings, limitSettings, type RequestLimitSettings } from './limit-settings.ts';
import { type ConfiguredProvider, readProvidersFile } from './providers-file.ts';
import { VARIABLES } from './variables.ts';

export type Environment = { readonly [name: string]: string | undefined };

/** What both processes need. Folders are as given: relative to where the process was started. */
export interface SharedConfig {
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly spoolDir: string;
  /** Most bytes that spooled files may hold together. */
  readonly spoolMaxBytes: number;
  readonly maxLineBytes: number;
  readonly maxItemsPerJob: number;
  /** Hosts, in lower case, that items may be fetched from although they are not public. */
  readonly allowedFetchHosts: ReadonlySet<string>;
  /** What stored secrets are sealed with, the current key first; none where none was given. */
  readonly encryptionKeys: readonly EncryptionKey[];
  /** Where copies of result files are kept; null for nowhere. */
  readonly artifacts: ArtifactConfig | null;
  /** Whether what Temporal keeps of workflows is sealed with them too. */
  readonly sealsPayloads: boolean;
  readonly logLevel: z.infer<typeof VARIABLES.BATCHGATE_LOG_LEVEL>;
  readonly providerFacts: ProviderFacts;
}

/** What is known of the providers without any credential. */
export interface ProviderFacts {
  readonly anthropicApiVersion: z.infer<typeof VARIABLES.ANTHROPIC_API_VERSION>;
  /** Where the address of each built-in provider processes data. */
  readonly regions: { readonly openai: string; readonly anthropic: string; readonly gemini: string };
  readonly configured: readonly ConfiguredProvider[];
}

/** A named key of 32 bytes. */
export interface EncryptionKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** Where artifacts are kept. */
export interface ArtifactConfig {
  /** `file:///folder` or `s3://bucket/prefix`. */
  readonly url: string;
  readonly s3: { readonly endpoint: string | null; readonly region: string | null; readonly usesPathStyle: boolean };
  readonly isEncrypted: boolean;
}

/** How to reach a provider. */
export interface ProviderAccess {
  /** Null where none was given. */
  readonly apiKey: string | null;
  /** Null for the provider's own address. */
  readonly baseUrl: string | null;
}

/** The gateway's own access to its providers: the worker's for everything, the api's for results that stay with them. */
export interface ProviderKeys {
  readonly openai: ProviderAccess;
  readonly anthropic: ProviderAccess;
  readonly gemini: ProviderAccess;
  /** Keys of the providers of the providers file, by their names. */
  readonly configuredKeys: ReadonlyMap<string, string>;
}

/** What proves that an event came from a provider. */
export interface ProviderWebhookKeys {
  /** Secrets of OpenAI and of configured providers, by name; only those that have one. */
  readonly signedLikeOpenAi: ReadonlyMap<string, readonly string[]>;
  readonly gemini: {
    readonly secrets: readonly string[];
    readonly jwks: Jwks | null;
    readonly audience: string | null;
  };
}

export interface ApiConfig extends SharedConfig, ProviderKeys {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  /** For links to workflows in answers to operators. */
  readonly temporalUiUrl: string | null;
  readonly maxJsonBodyBytes: number;
  readonly maxDocumentBytes: number;
  readonly maxDocumentPages: number;
  readonly limits: RequestLimitSettings;
  readonly server: HttpServerSettings;
  readonly providerWebhooks: ProviderWebhookKeys;
}

export interface WorkerConfig extends SharedConfig, ProviderKeys {
  readonly healthPort: number;
  /** The task queues this process serves; null is all of them. */
  readonly queues: readonly string[] | null;
  /** File with the workflow code, bundled beforehand; null where the worker bundles it at its start. */
  readonly workflowBundle: string | null;
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  readonly createDeadlineMs: number;
  readonly listingLagMs: number;
  readonly resultGraceMs: number;
  readonly providerLostAfterMs: number;
  readonly capacityRetryMs: number;
  readonly credentialWaitMs: number;
  readonly capacityWaitMs: number;
  readonly taskAttempts: number;
  readonly taskRetryMs: number;
  /** Tasks of one provider that this process runs at once. */
  readonly tasksAtOnce: number;
  /** Documents of one run that are asked about at once. */
  readonly documentsAtOnce: number;
}

/** Every problem of an environment at once, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Throws ConfigError. */
export function readApiConfig(env: Environment = process.env): ApiConfig {
  const values = parse(z.object(VARIABLES), env);
  const shared = sharedConfig(values);
  return {
    ...shared,
    host: values.BATCHGATE_HOST,
    port: values.BATCHGATE_PORT,
    temporalUiUrl: values.BATCHGATE_TEMPORAL_UI_URL ?? null,
    maxJsonBodyBytes: values.BATCHGATE_MAX_JSON_BODY_BYTES,
    maxDocumentBytes: values.BATCHGATE_MAX_DOCUMENT_BYTES,
    maxDocumentPages: values.BATCHGATE_MAX_DOCUMENT_PAGES,
    ...limitSettings(values),
    ...providerKeys(values, shared.providerFacts.configured, env),
    providerWebhooks: providerWebhookKeys(values, shared.providerFacts.configured, env),
  };
}

/** Throws ConfigError. */
export function readWorkerConfig(env: Environment = process.env): WorkerConfig {
  const values = parse(WorkerVariables, env);
  const shared = sharedConfig(values);
  return {
    ...shared,
    healthPort: values.BATCHGATE_WORKER_HEALTH_PORT,
    queues: values.BATCHGATE_WORKER_QUEUES ?? null,
    workflowBundle: values.BATCHGATE_WORKFLOW_BUNDLE ?? null,
    ...providerKeys(values, shared.providerFacts.configured, env),
    pollMinMs: values.BATCHGATE_POLL_MIN_MS,
    pollMaxMs: values.BATCHGATE_POLL_MAX_MS,
    createDeadlineMs: values.BATCHGATE_CREATE_DEADLINE_MS,
    listingLagMs: values.BATCHGATE_LISTING_LAG_MS,
    resultGraceMs: values.BATCHGATE_RESULT_GRACE_MS,
    providerLostAfterMs: values.BATCHGATE_PROVIDER_LOST_AFTER_MS,
    capacityRetryMs: values.BATCHGATE_CAPACITY_RETRY_MS,
    credentialWaitMs: values.BATCHGATE_CREDENTIAL_WAIT_MS,
    capacityWaitMs: values.BATCHGATE_CAPACITY_WAIT_MS,
    taskAttempts: values.BATCHGATE_TASK_ATTEMPTS,
    taskRetryMs: values.BATCHGATE_TASK_RETRY_MS,
    tasksAtOnce: values.BATCHGATE_TASKS_AT_ONCE,
    documentsAtOnce: values.BATCHGATE_DOCUMENTS_AT_ONCE,
  };
}

/** For commands that only need the database. Throws ConfigError. */
export function readDatabaseUrl(env: Environment = process.env): string {
  return parse(z.object({ DATABASE_URL: VARIABLES.DATABASE_URL }), env).DATABASE_URL;
}

/** The database's URL where one is set, unchecked. */
export function findDatabaseUrl(env: Environment = process.env): string | undefined {
  return env['DATABASE_URL'] === '' ? undefined : env['DATABASE_URL'];
}

/** This process's environment for a child of it, with some variables set or replaced. */
export function childEnvironment(changes: Environment): { [name: string]: string | undefined } {
  return { ...process.env, ...changes };
}

const WorkerVariables = z
  .object(VARIABLES)
  .refine((values) => values.BATCHGATE_POLL_MIN_MS <= values.BATCHGATE_POLL_MAX_MS, {
    path: ['BATCHGATE_POLL_MIN_MS'],
    error: 'at most BATCHGATE_POLL_MAX_MS',
  });

const SealingVariables = z.object({
  BATCHGATE_ENCRYPTION_KEYS: VARIABLES.BATCHGATE_ENCRYPTION_KEYS,
  BATCHGATE_PAYLOAD_CODEC: VARIABLES.BATCHGATE_PAYLOAD_CODEC,
});

function sharedConfig(values: z.infer<typeof WorkerVariables>): SharedConfig {
  return {
    databaseUrl: values.DATABASE_URL,
    databasePoolSize: values.BATCHGATE_DATABASE_POOL_SIZE,
    spoolDir: values.BATCHGATE_SPOOL_DIR,
    spoolMaxBytes: values.BATCHGATE_SPOOL_MAX_BYTES,
    maxLineBytes: values.BATCHGATE_MAX_LINE_BYTES,
    maxItemsPerJob: values.BATCHGATE_MAX_ITEMS_PER_JOB,
    allowedFetchHosts: new Set(values.BATCHGATE_ALLOWED_FETCH_HOSTS),
    ...sealing(values),
    artifacts: artifactConfig(values),
    logLevel: values.BATCHGATE_LOG_LEVEL,
    providerFacts: {
      anthropicApiVersion: values.ANTHROPIC_API_VERSION,
      regions: {
        openai: values.BATCHGATE_OPENAI_REGION,
        anthropic: values.BATCHGATE_ANTHROPIC_REGION,
        gemini: values.BATCHGATE_GEMINI_REGION,
      },
      configured: configuredProviders(values.BATCHGATE_PROVIDERS_FILE),
    },
  };
}

/** For commands that read what Temporal keeps. Throws ConfigError. */
export function readSealing(env: Environment = process.env): Pick<SharedConfig, 'encryptionKeys' | 'sealsPayloads'> {
  return sealing(parse(SealingVariables, env));
}

function sealing(values: z.infer<typeof SealingVariables>): Pick<SharedConfig, 'encryptionKeys' | 'sealsPayloads'> {
  const encryptionKeys = values.BATCHGATE_ENCRYPTION_KEYS ?? [];
  const sealsPayloads = values.BATCHGATE_PAYLOAD_CODEC === 'on';
  if (sealsPayloads && encryptionKeys.length === 0)
    throw new ConfigError('BATCHGATE_PAYLOAD_CODEC can be on only where BATCHGATE_ENCRYPTION_KEYS has a key');
  return { encryptionKeys, sealsPayloads };
}

function artifactConfig(values: z.infer<typeof WorkerVariables>): ArtifactConfig | null {
  const isEncrypted = values.BATCHGATE_ARTIFACT_ENCRYPTION === 'on';
  if (isEncrypted && values.BATCHGATE_ENCRYPTION_KEYS === undefined)
    throw new ConfigError('BATCHGATE_ARTIFACT_ENCRYPTION can be on only where BATCHGATE_ENCRYPTION_KEYS has a key');
  if (values.BATCHGATE_ARTIFACT_STORE === undefined) return null;
  return {
    url: values.BATCHGATE_ARTIFACT_STORE,
    s3: {
      endpoint: values.BATCHGATE_ARTIFACT_S3_ENDPOINT ?? null,
      region: values.BATCHGATE_ARTIFACT_S3_REGION ?? null,
      usesPathStyle: values.BATCHGATE_ARTIFACT_S3_PATH_STYLE === 'on',
    },
    isEncrypted,
  };
}

function providerKeys(
  values: z.infer<typeof WorkerVariables>,
  configured: readonly ConfiguredProvider[],
  env: Environment,
): ProviderKeys {
  return {
    openai: access(values.OPENAI_API_KEY, values.OPENAI_BASE_URL),
    anthropic: access(values.ANTHROPIC_API_KEY, values.ANTHROPIC_BASE_URL),
    gemini: access(values.GEMINI_API_KEY, values.GOOGLE_GEMINI_BASE_URL),
    configuredKeys: new Map(
      configured.flatMap(({ name, api_key_variable }) => {
        const key = env[api_key_variable];
        return key ? [[name, key] as const] : [];
      }),
    ),
  };
}

function providerWebhookKeys(
  values: z.infer<typeof WorkerVariables>,
  configured: readonly ConfiguredProvider[],
  env: Environment,
): ProviderWebhookKeys {
  const named = configured.flatMap(({ name, webhook_secret_variable: variable }) => {
    if (variable === undefined) return [];
    const secrets = parse(z.object({ [variable]: VARIABLES.OPENAI_WEBHOOK_SECRET }), env)[variable];
    return secrets === undefined ? [] : [[name, secrets] as const];
  });
  const openai = values.OPENAI_WEBHOOK_SECRET;
  return {
    signedLikeOpenAi: new Map([...(openai === undefined ? [] : [['openai', openai] as const]), ...named]),
    gemini: {
      secrets: values.GEMINI_WEBHOOK_SECRET ?? [],
      jwks: fromFile('GEMINI_WEBHOOK_JWKS_FILE', values.GEMINI_WEBHOOK_JWKS_FILE, readJwksFile) ?? null,
      audience: values.GEMINI_WEBHOOK_AUDIENCE ?? null,
    },
  };
}

function access(apiKey: string | undefined, baseUrl: string | undefined): ProviderAccess {
  return { apiKey: apiKey ?? null, baseUrl: baseUrl ?? null };
}

function configuredProviders(path: string | undefined): readonly ConfiguredProvider[] {
  return fromFile('BATCHGATE_PROVIDERS_FILE', path, readProvidersFile) ?? [];
}

/** What `read` makes of the file a variable names; undefined where it names none. */
function fromFile<Content>(
  name: string,
  path: string | undefined,
  read: (path: string) => Content,
): Content | undefined {
  if (path === undefined) return undefined;
  try {
    return read(path);
  } catch (error) {
    throw new ConfigError(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, env: Environment): z.infer<Schema> {
  // A variable set to nothing, as container files do, is not set.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path, message }) => {
    const name = path.join('.');
    const state =
      given[name] === undefined ? 'is not set' : `is not (it is ${JSON.stringify(shown(name, given[name]))})`;
    return `${name} must be ${message}, but ${state}. Set it in the environment; .env.example shows a value that works.`;
  });
  throw new ConfigError(lines.join('\n'));
}

/** Keys, secrets and the passwords in URLs stay out of messages. */
function shown(name: string, value: string): string {
  return /KEY|URL|SECRET/.test(name) ? `${value.length} characters long` : value;
}
