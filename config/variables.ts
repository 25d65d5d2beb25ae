import { z } from 'zod';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const MAX_DELAY_MS = 7 * 24 * 60 * 60 * 1000;

/** A message completes the sentence "<variable> must be …". */
function text(what: string) {
  return z.string({ error: what }).min(1, what);
}

function wholeNumber(min: number, max: number) {
  const what = `a whole number from ${min} to ${max}`;
  return z
    .string({ error: what })
    .regex(/^\d{1,16}$/, what)
    .transform(Number)
    .pipe(z.number().min(min, what).max(max, what));
}

function url(protocols: readonly string[]) {
  const what = `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  return text(what).refine((value) => protocols.includes(URL.parse(value)?.protocol ?? ''), what);
}

/** One secret, or during a change of it two. */
const webhookSecrets = text('webhook secrets such as whsec_ and base64, parted by commas')
  .transform((list) => list.split(',').map((secret) => secret.trim()))
  .refine((secrets) => secrets.every(isWebhookSecret), 'webhook secrets such as whsec_ and base64, parted by commas');

function isWebhookSecret(secret: string): boolean {
  return /^(whsec_)?([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/.test(secret);
}

/** None, one or several. */
const hosts = z
  .string({ error: 'host names, parted by commas' })
  .regex(/^[\w.:,\s[\]-]*$/, 'host names, parted by commas')
  .transform((list) =>
    list
      .toLowerCase()
      .split(',')
      .map((host) => host.trim())
      .filter((host) => host !== ''),
  );

const ENCRYPTION_KEYS =
  'named keys of 32 bytes in base64 such as 2026-12:b64, parted by commas; make one with `openssl rand -base64 32`';

/** The first seals; the others only open what they sealed. */
const encryptionKeys = text(ENCRYPTION_KEYS)
  .transform((list) => list.split(',').map((entry) => readEncryptionKey(entry.trim())))
  .refine(
    (keys): keys is { id: string; key: Buffer }[] =>
      keys.every((key) => key !== null) && new Set(keys.map((key) => key?.id)).size === keys.length,
    ENCRYPTION_KEYS,
  );

function readEncryptionKey(entry: string): { id: string; key: Buffer } | null {
  const [, id, base64] = /^([\w.-]{1,64}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
  return id === undefined || base64 === undefined ? null : { id, key: Buffer.from(base64, 'base64') };
}

const ARTIFACT_STORE = 'file:///folder or s3://bucket/prefix, with plain names in the prefix';

function isArtifactStore(value: string): boolean {
  const [, place] = /^s3:\/\/(.+)$/.exec(value) ?? [];
  if (place !== undefined)
    return place
      .replace(/\/$/, '')
      .split('/')
      .every((part) => /^[A-Za-z0-9_-][\w.-]*$/.test(part));
  const parsed = URL.parse(value);
  return parsed?.protocol === 'file:' && parsed.hostname === '' && parsed.pathname.length > 1 && !/[?#]/.test(value);
}

const http = url(['http:', 'https:']);
const delayMs = wholeNumber(1, MAX_DELAY_MS);
const port = wholeNumber(0, 65_535);

/** Every variable that the gateway itself reads. Each is told of in `.env.example`. Milliseconds end in _MS. */
export const VARIABLES = {
  DATABASE_URL: url(['postgres:', 'postgresql:']),
  BATCHGATE_DATABASE_POOL_SIZE: wholeNumber(2, 1000).default(20),

  BATCHGATE_HOST: text('a host name or address').default('127.0.0.1'),
  BATCHGATE_PORT: port.default(8080),
  BATCHGATE_TEMPORAL_UI_URL: http.optional(),
  BATCHGATE_WORKER_HEALTH_PORT: port.default(8081),
  BATCHGATE_WORKER_QUEUES: text('a list of task queues, parted by commas')
    .transform((list) =>
      list
        .split(',')
        .map((queue) => queue.trim())
        .filter((queue) => queue !== ''),
    )
    .optional(),
  BATCHGATE_WORKFLOW_BUNDLE: text('the path of a file').optional(),
  BATCHGATE_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
      error: 'one of trace, debug, info, warn, error, silent',
    })
    .default('info'),

  OPENAI_API_KEY: text('an API key').optional(),
  OPENAI_BASE_URL: http.optional(),
  OPENAI_WEBHOOK_SECRET: webhookSecrets.optional(),
  ANTHROPIC_API_KEY: text('an API key').optional(),
  ANTHROPIC_BASE_URL: http.optional(),
  ANTHROPIC_API_VERSION: z
    .enum(['2026-10-21', '2023-06-01'], { error: 'one of 2026-10-21, 2023-06-01' })
    .default('2026-10-21'),
  GEMINI_API_KEY: text('an API key').optional(),
  GOOGLE_GEMINI_BASE_URL: http.optional(),
  GEMINI_WEBHOOK_SECRET: webhookSecrets.optional(),
  GEMINI_WEBHOOK_JWKS_FILE: text('the path of a JSON file').optional(),
  GEMINI_WEBHOOK_AUDIENCE: text('the audience of the tokens').optional(),
  BATCHGATE_OPENAI_REGION: text('a region such as eu').default('global'),
  BATCHGATE_ANTHROPIC_REGION: text('a region such as eu').default('global'),
  BATCHGATE_GEMINI_REGION: text('a region such as eu').default('global'),
  BATCHGATE_PROVIDERS_FILE: text('the path of a JSON file').optional(),

  BATCHGATE_POLL_MIN_MS: delayMs.default(15_000),
  BATCHGATE_POLL_MAX_MS: delayMs.default(300_000),
  BATCHGATE_CREATE_DEADLINE_MS: delayMs.default(60_000),
  BATCHGATE_LISTING_LAG_MS: wholeNumber(0, MAX_DELAY_MS).default(15_000),
  BATCHGATE_RESULT_GRACE_MS: wholeNumber(0, MAX_DELAY_MS).default(30_000),
  BATCHGATE_PROVIDER_LOST_AFTER_MS: delayMs.default(3_600_000),
  BATCHGATE_CAPACITY_RETRY_MS: delayMs.default(60_000),
  BATCHGATE_CREDENTIAL_WAIT_MS: delayMs.default(86_400_000),
  BATCHGATE_CAPACITY_WAIT_MS: delayMs.default(604_800_000),

  BATCHGATE_TASK_ATTEMPTS: wholeNumber(1, 20).default(5),
  BATCHGATE_TASK_RETRY_MS: wholeNumber(1, 300_000).default(2_000),
  BATCHGATE_TASKS_AT_ONCE: wholeNumber(1, 10_000).default(200),
  BATCHGATE_DOCUMENTS_AT_ONCE: wholeNumber(1, 1_000).default(8),

  BATCHGATE_SPOOL_DIR: text('a folder').default('.batchgate/spool'),
  BATCHGATE_SPOOL_MAX_BYTES: wholeNumber(MIB, Number.MAX_SAFE_INTEGER).default(10 * GIB),

  BATCHGATE_MAX_LINE_BYTES: wholeNumber(1024, 256 * MIB).default(8 * MIB),
  BATCHGATE_MAX_JSON_BODY_BYTES: wholeNumber(1024, 512 * MIB).default(32 * MIB),
  BATCHGATE_MAX_ITEMS_PER_JOB: wholeNumber(1, 50_000_000).default(5_000_000),
  BATCHGATE_MAX_DOCUMENT_BYTES: wholeNumber(1024, 512 * MIB).default(32 * MIB),
  BATCHGATE_MAX_DOCUMENT_PAGES: wholeNumber(1, 10_000).default(1_000),
  BATCHGATE_ENCRYPTION_KEYS: encryptionKeys.optional(),
  BATCHGATE_PAYLOAD_CODEC: z.enum(['on', 'off'], { error: 'on or off' }).default('off'),
  BATCHGATE_ARTIFACT_STORE: text(ARTIFACT_STORE).refine(isArtifactStore, ARTIFACT_STORE).optional(),
  BATCHGATE_ARTIFACT_S3_ENDPOINT: http.optional(),
  BATCHGATE_ARTIFACT_S3_REGION: text('a region such as eu-central-1').optional(),
  BATCHGATE_ARTIFACT_S3_PATH_STYLE: z.enum(['on', 'off'], { error: 'on or off' }).default('off'),
  BATCHGATE_ARTIFACT_ENCRYPTION: z.enum(['on', 'off'], { error: 'on or off' }).default('off'),
  BATCHGATE_ALLOWED_FETCH_HOSTS: hosts.default([]),

  BATCHGATE_REQUESTS_PER_MINUTE: wholeNumber(1, 100_000_000).default(6_000),
  BATCHGATE_REFUSED_KEYS_PER_MINUTE: wholeNumber(1, 100_000_000).default(60),
  BATCHGATE_TRUSTED_PROXIES: wholeNumber(0, 10).default(0),
  BATCHGATE_MAX_UPLOADS: wholeNumber(1, 100_000).default(64),
  BATCHGATE_MAX_UPLOADS_PER_TENANT: wholeNumber(1, 100_000).default(16),
  BATCHGATE_MAX_TASK_STARTS: wholeNumber(1, 100_000).default(64),
  BATCHGATE_MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(5_000),
  BATCHGATE_MAX_HEADER_BYTES: wholeNumber(4_096, MIB).default(16_384),
  BATCHGATE_HEADERS_TIMEOUT_MS: delayMs.default(15_000),
  BATCHGATE_BODY_WINDOW_MS: delayMs.default(30_000),
  BATCHGATE_BODY_MIN_BYTES: wholeNumber(1, GIB).default(4_096),
} as const;

/** Read by Temporal's own client configuration, as its CLI reads them; here only so that `.env.example` tells of them. */
export const TEMPORAL_VARIABLES = [
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
] as const;
