import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  ConfigError,
  childEnvironment,
  findDatabaseUrl,
  readApiConfig,
  readDatabaseUrl,
  readSealing,
  readWorkerConfig,
} from './env.ts';
import { TEMPORAL_VARIABLES, VARIABLES } from './variables.ts';

const DATABASE_URL = 'postgres://localhost/x';
const example = readFileSync(join(import.meta.dirname, '..', '.env.example'), 'utf8');
const documented = new Map(
  [...example.matchAll(/^(# )?([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(([, comment, name = '', value = '']) => [
    name,
    { comment, value },
  ]),
);

test('.env.example tells of every variable that is read, and of no other', () => {
  expect([...documented.keys()].sort()).toEqual([...Object.keys(VARIABLES), ...TEMPORAL_VARIABLES].sort());
});

test('.env.example works as it is', () => {
  const set = [...documented].filter(([, { comment }]) => comment === undefined);
  const env = Object.fromEntries(set.map(([name, { value }]) => [name, value]));
  expect(readApiConfig(env)).toEqual(readApiConfig({ DATABASE_URL: env['DATABASE_URL'] }));
  expect(readWorkerConfig(env).databaseUrl).toBe(env['DATABASE_URL']);
});

test.each(Object.entries(VARIABLES))(
  '.env.example shows a value that %s accepts, the default where there is one',
  (name, schema) => {
    const shown = schema.safeParse(documented.get(name)?.value);
    expect(shown.success).toBe(true);
    const unset = schema.safeParse(undefined);
    if (unset.success && unset.data !== undefined) expect(shown.data).toEqual(unset.data);
  },
);

test('a process starts with nothing but a database', () => {
  expect(readApiConfig({ DATABASE_URL })).toEqual({
    databaseUrl: DATABASE_URL,
    databasePoolSize: 20,
    spoolDir: '.batchgate/spool',
    spoolMaxBytes: 10 * 1024 ** 3,
    allowedFetchHosts: new Set(),
    encryptionKeys: [],
    sealsPayloads: false,
    artifacts: null,
    logLevel: 'info',
    providerFacts: {
      anthropicApiVersion: '2026-10-21',
      regions: { openai: 'global', anthropic: 'global', gemini: 'global' },
      configured: [],
    },
    host: '127.0.0.1',
    port: 8080,
    temporalUiUrl: null,
    maxLineBytes: 8 * 1024 ** 2,
    maxJsonBodyBytes: 32 * 1024 ** 2,
    maxDocumentBytes: 32 * 1024 ** 2,
    maxDocumentPages: 1_000,
    limits: {
      requestsPerMinute: 6_000,
      refusedKeysPerMinute: 60,
      trustedProxies: 0,
      maxUploads: 64,
      maxUploadsPerTenant: 16,
      maxTaskStarts: 64,
    },
    server: {
      maxConnections: 5_000,
      maxHeaderBytes: 16_384,
      headersTimeoutMs: 15_000,
      bodyPace: { windowMs: 30_000, minBytes: 4_096 },
    },
    maxItemsPerJob: 5_000_000,
    openai: { apiKey: null, baseUrl: null },
    anthropic: { apiKey: null, baseUrl: null },
    gemini: { apiKey: null, baseUrl: null },
    configuredKeys: new Map(),
    providerWebhooks: { signedLikeOpenAi: new Map(), gemini: { secrets: [], jwks: null, audience: null } },
  });
  expect(readWorkerConfig({ DATABASE_URL })).toMatchObject({
    healthPort: 8081,
    queues: null,
    openai: { apiKey: null, baseUrl: null },
    anthropic: { apiKey: null, baseUrl: null },
    gemini: { apiKey: null, baseUrl: null },
    configuredKeys: new Map(),
    pollMinMs: 15_000,
    pollMaxMs: 300_000,
    createDeadlineMs: 60_000,
    listingLagMs: 15_000,
    resultGraceMs: 30_000,
    providerLostAfterMs: 3_600_000,
    capacityRetryMs: 60_000,
    credentialWaitMs: 86_400_000,
    capacityWaitMs: 604_800_000,
    taskAttempts: 5,
    taskRetryMs: 2_000,
    tasksAtOnce: 200,
    documentsAtOnce: 8,
  });
});

test('reads what is set', () => {
  const config = readWorkerConfig({
    DATABASE_URL,
    BATCHGATE_WORKER_QUEUES: 'a, b,',
    BATCHGATE_POLL_MIN_MS: '5',
    OPENAI_API_KEY: 'sk-1',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  });
  expect(config).toMatchObject({
    queues: ['a', 'b'],
    pollMinMs: 5,
    openai: { apiKey: 'sk-1', baseUrl: 'http://127.0.0.1:9/v1' },
  });
});

test('reads webhook secrets, of configured providers too, and the keys of Gemini from their file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'batchgate-env-'));
  const jwks = { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'k1' }] };
  writeFileSync(join(folder, 'jwks.json'), JSON.stringify(jwks));
  const mine = {
    name: 'mine',
    base_url: 'http://127.0.0.1:9/v1',
    api_key_variable: 'MINE_KEY',
    webhook_secret_variable: 'MINE_SECRET',
    endpoints: ['embeddings'],
    models: [{ model: 'm', kind: 'embedding', currency: 'USD', batch: { input: '1', output: '0' } }],
  };
  writeFileSync(join(folder, 'providers.json'), JSON.stringify({ providers: [mine] }));
  const env = {
    DATABASE_URL,
    OPENAI_WEBHOOK_SECRET: 'whsec_b2xk, whsec_bmV3',
    GEMINI_WEBHOOK_SECRET: 'whsec_YWI=',
    GEMINI_WEBHOOK_JWKS_FILE: join(folder, 'jwks.json'),
    GEMINI_WEBHOOK_AUDIENCE: 'my-project',
    BATCHGATE_PROVIDERS_FILE: join(folder, 'providers.json'),
  };
  const configs = [readApiConfig({ ...env, MINE_SECRET: 'whsec_YQ==' }), readApiConfig(env)];
  rmSync(folder, { recursive: true });
  const openai = ['openai', ['whsec_b2xk', 'whsec_bmV3']];
  const gemini = { secrets: ['whsec_YWI='], jwks, audience: 'my-project' };
  expect(configs.map(({ providerWebhooks }) => providerWebhooks)).toEqual([
    { signedLikeOpenAi: new Map([openai, ['mine', ['whsec_YQ==']]] as [string, string[]][]), gemini },
    { signedLikeOpenAi: new Map([openai] as [string, string[]][]), gemini },
  ]);
});

test('sealing keys come in their order; one that is none is refused without being shown', () => {
  const key = (byte: number) => Buffer.alloc(32, byte);
  const read = (keys: string) => readApiConfig({ DATABASE_URL, BATCHGATE_ENCRYPTION_KEYS: keys }).encryptionKeys;
  const [one, two] = [key(1).toString('base64'), key(2).toString('base64')];
  expect(read(`new:${two}, old-1:${one}`)).toEqual([
    { id: 'new', key: key(2) },
    { id: 'old-1', key: key(1) },
  ]);
  for (const wrong of [one, `:${one}`, `a:${one},`, `a:${one},a:${two}`, `a:${one.slice(4)}`, `a b:${one}`]) {
    expect(() => read(wrong)).toThrow(/^BATCHGATE_ENCRYPTION_KEYS must be named keys of 32 bytes/);
    expect(() => read(wrong)).not.toThrow(one.slice(4, 12));
  }
});

test('a webhook secret that is none, or a key file that is not there, is named without the secret', () => {
  const read = (env: Record<string, string>) => () => readApiConfig({ DATABASE_URL, ...env });
  for (const secret of ['whsec_!', 'whsec_abc', 'whsec_YWI=,', 'sk-mistaken']) {
    expect(read({ OPENAI_WEBHOOK_SECRET: secret })).toThrow(/^OPENAI_WEBHOOK_SECRET must be webhook secrets/);
    expect(read({ OPENAI_WEBHOOK_SECRET: secret })).not.toThrow(secret);
  }
  expect(read({ GEMINI_WEBHOOK_JWKS_FILE: '/no/such.json' })).toThrow(
    /^GEMINI_WEBHOOK_JWKS_FILE: \/no\/such\.json is not/,
  );
});

test('a variable set to nothing is not set', () => {
  expect(readApiConfig({ DATABASE_URL, BATCHGATE_PORT: '', BATCHGATE_TEMPORAL_UI_URL: '' })).toMatchObject({
    port: 8080,
    temporalUiUrl: null,
  });
  expect(findDatabaseUrl({ DATABASE_URL: '' })).toBeUndefined();
});

test.each([
  [{}, 'DATABASE_URL must be a URL that begins with postgres:// or postgresql://, but is not set.'],
  [
    { DATABASE_URL: 'mysql://x' },
    'DATABASE_URL must be a URL that begins with postgres:// or postgresql://, but is not',
  ],
  [
    { DATABASE_URL, BATCHGATE_PORT: '80 80' },
    'BATCHGATE_PORT must be a whole number from 0 to 65535, but is not (it is "80 80").',
  ],
  [{ DATABASE_URL, BATCHGATE_PORT: '65536' }, 'BATCHGATE_PORT must be a whole number from 0 to 65535'],
  [{ DATABASE_URL, BATCHGATE_POLL_MAX_MS: '1e3' }, 'BATCHGATE_POLL_MAX_MS must be a whole number from 1 to 604800000'],
  [
    { DATABASE_URL, BATCHGATE_LOG_LEVEL: 'loud' },
    'BATCHGATE_LOG_LEVEL must be one of trace, debug, info, warn, error, silent',
  ],
  [
    { DATABASE_URL, BATCHGATE_DATABASE_POOL_SIZE: '1' },
    'BATCHGATE_DATABASE_POOL_SIZE must be a whole number from 2 to 1000',
  ],
  [
    { DATABASE_URL, BATCHGATE_POLL_MIN_MS: '2', BATCHGATE_POLL_MAX_MS: '1' },
    'BATCHGATE_POLL_MIN_MS must be at most BATCHGATE_POLL_MAX_MS, but is not (it is "2").',
  ],
])('refuses %j and says what is wrong and how to mend it', (env, message) => {
  expect(() => readWorkerConfig(env)).toThrow(ConfigError);
  expect(() => readWorkerConfig(env)).toThrow(message);
  expect(() => readWorkerConfig(env)).toThrow('Set it in the environment; .env.example shows a value that works.');
});

test('names every problem at once, and repeats no key and no password', () => {
  const read = () =>
    readApiConfig({
      DATABASE_URL: 'http://me:hunter2@db',
      BATCHGATE_PORT: 'x',
      OPENAI_BASE_URL: 'sk-mistaken-for-a-url',
    });
  expect(read).toThrow(/DATABASE_URL must.*\nBATCHGATE_PORT must.*\nOPENAI_BASE_URL must/);
  expect(read).not.toThrow(/hunter2|sk-mistaken/);
});

test('commands that only need the database ask for nothing else', () => {
  expect(readDatabaseUrl({ DATABASE_URL, BATCHGATE_PORT: 'x' })).toBe(DATABASE_URL);
  expect(() => readDatabaseUrl({})).toThrow('DATABASE_URL must be');
});

test("a child process gets this one's environment with changes", () => {
  expect(childEnvironment({ BATCHGATE_PORT: '1' })).toEqual({ ...process.env, BATCHGATE_PORT: '1' });
});

test('what Temporal keeps is sealed only where there is a key to seal with', () => {
  const on = { DATABASE_URL, BATCHGATE_PAYLOAD_CODEC: 'on' };
  const keys = { BATCHGATE_ENCRYPTION_KEYS: `a:${Buffer.alloc(32).toString('base64')}` };
  expect(readApiConfig({ ...on, ...keys }).sealsPayloads).toBe(true);
  expect(readWorkerConfig({ DATABASE_URL, ...keys }).sealsPayloads).toBe(false);
  expect(readSealing(keys)).toMatchObject({ encryptionKeys: [{ id: 'a' }], sealsPayloads: false });
  for (const read of [readApiConfig, readWorkerConfig, readSealing])
    expect(() => read(on)).toThrow('BATCHGATE_PAYLOAD_CODEC can be on only where BATCHGATE_ENCRYPTION_KEYS has a key');
  expect(() => readSealing({ BATCHGATE_PAYLOAD_CODEC: 'yes' })).toThrow('BATCHGATE_PAYLOAD_CODEC must be on or off');
});

test('artifacts go to a folder or a bucket, sealed only where there is a key', () => {
  const read = (env: Record<string, string>) => readWorkerConfig({ DATABASE_URL, ...env }).artifacts;
  const s3 = { endpoint: null, region: null, usesPathStyle: false };
  const folder = 'file:///var/lib/batchgate/artifacts';
  expect(read({ BATCHGATE_ARTIFACT_STORE: folder })).toEqual({ url: folder, s3, isEncrypted: false });
  const bucket = {
    BATCHGATE_ARTIFACT_STORE: 's3://bucket/some/prefix',
    BATCHGATE_ARTIFACT_S3_ENDPOINT: 'http://127.0.0.1:9000',
    BATCHGATE_ARTIFACT_S3_REGION: 'eu-central-1',
    BATCHGATE_ARTIFACT_S3_PATH_STYLE: 'on',
  };
  const sealed = {
    BATCHGATE_ARTIFACT_ENCRYPTION: 'on',
    BATCHGATE_ENCRYPTION_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
  };
  expect(read({ ...bucket, ...sealed })).toEqual({
    url: bucket.BATCHGATE_ARTIFACT_STORE,
    s3: { endpoint: bucket.BATCHGATE_ARTIFACT_S3_ENDPOINT, region: 'eu-central-1', usesPathStyle: true },
    isEncrypted: true,
  });
  for (const wrong of [
    '/folder',
    'file://host/folder',
    'file:///',
    's3:///x',
    's3://b/a b',
    's3://b/../c',
    'https://b/x',
    's3://b?x=1',
  ])
    expect(() => read({ BATCHGATE_ARTIFACT_STORE: wrong }), wrong).toThrow(
      'BATCHGATE_ARTIFACT_STORE must be file:///folder or',
    );
  expect(() => read({ ...bucket, BATCHGATE_ARTIFACT_ENCRYPTION: 'on' })).toThrow(
    'BATCHGATE_ARTIFACT_ENCRYPTION can be on only where BATCHGATE_ENCRYPTION_KEYS has a key',
  );
});
