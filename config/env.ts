import { z } from 'zod';
import { VARIABLES } from './variables.ts';

export type Environment = { readonly [name: string]: string | undefined };

/** What both processes need. Folders are as given: relative to where the process was started. */
export interface SharedConfig {
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly spoolDir: string;
  /** Most bytes that spooled files may hold together. */
  readonly spoolMaxBytes: number;
  readonly logLevel: z.infer<typeof VARIABLES.BATCHGATE_LOG_LEVEL>;
}

export interface ApiConfig extends SharedConfig {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  /** For links to workflows in answers to operators. */
  readonly temporalUiUrl: string | null;
  readonly maxLineBytes: number;
  readonly maxJsonBodyBytes: number;
  readonly maxItemsPerJob: number;
}

export interface WorkerConfig extends SharedConfig {
  readonly healthPort: number;
  /** The task queues this process serves; null is all of them. */
  readonly queues: readonly string[] | null;
  readonly openai: { readonly apiKey: string | null; readonly baseUrl: string | null };
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  readonly createDeadlineMs: number;
  readonly listingLagMs: number;
  readonly resultGraceMs: number;
  readonly providerLostAfterMs: number;
  readonly capacityRetryMs: number;
  readonly credentialWaitMs: number;
}

/** Every problem of an environment at once, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Throws ConfigError. */
export function readApiConfig(env: Environment = process.env): ApiConfig {
  const values = parse(z.object(VARIABLES), env);
  return {
    ...sharedConfig(values),
    host: values.BATCHGATE_HOST,
    port: values.BATCHGATE_PORT,
    temporalUiUrl: values.BATCHGATE_TEMPORAL_UI_URL ?? null,
    maxLineBytes: values.BATCHGATE_MAX_LINE_BYTES,
    maxJsonBodyBytes: values.BATCHGATE_MAX_JSON_BODY_BYTES,
    maxItemsPerJob: values.BATCHGATE_MAX_ITEMS_PER_JOB,
  };
}

/** Throws ConfigError. */
export function readWorkerConfig(env: Environment = process.env): WorkerConfig {
  const values = parse(WorkerVariables, env);
  return {
    ...sharedConfig(values),
    healthPort: values.BATCHGATE_WORKER_HEALTH_PORT,
    queues: values.BATCHGATE_WORKER_QUEUES ?? null,
    openai: { apiKey: values.OPENAI_API_KEY ?? null, baseUrl: values.OPENAI_BASE_URL ?? null },
    pollMinMs: values.BATCHGATE_POLL_MIN_MS,
    pollMaxMs: values.BATCHGATE_POLL_MAX_MS,
    createDeadlineMs: values.BATCHGATE_CREATE_DEADLINE_MS,
    listingLagMs: values.BATCHGATE_LISTING_LAG_MS,
    resultGraceMs: values.BATCHGATE_RESULT_GRACE_MS,
    providerLostAfterMs: values.BATCHGATE_PROVIDER_LOST_AFTER_MS,
    capacityRetryMs: values.BATCHGATE_CAPACITY_RETRY_MS,
    credentialWaitMs: values.BATCHGATE_CREDENTIAL_WAIT_MS,
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

function sharedConfig(values: z.infer<typeof WorkerVariables>): SharedConfig {
  return {
    databaseUrl: values.DATABASE_URL,
    databasePoolSize: values.BATCHGATE_DATABASE_POOL_SIZE,
    spoolDir: values.BATCHGATE_SPOOL_DIR,
    spoolMaxBytes: values.BATCHGATE_SPOOL_MAX_BYTES,
    logLevel: values.BATCHGATE_LOG_LEVEL,
  };
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

/** Keys and the passwords in URLs stay out of messages. */
function shown(name: string, value: string): string {
  return /KEY|URL/.test(name) ? `${value.length} characters long` : value;
}
