import { expect, test } from 'vitest';
import { apiEnvironment, type StackFacts, simulatedProviders, workerEnvironment } from './stack-environment.ts';

const SIMULATORS = {
  openai: 'http://127.0.0.1:9101',
  anthropic: 'http://127.0.0.1:9102',
  gemini: 'http://127.0.0.1:9103',
};
const REAL = { openai: null, anthropic: null, gemini: null };

function facts(overrides: Partial<StackFacts> = {}): StackFacts {
  return {
    environment: { PATH: '/bin' },
    dataDirectory: '/data',
    databaseUrl: 'postgresql://here/batchgate',
    apiPort: 8080,
    workerHealthPort: 8081,
    temporal: { address: '127.0.0.1:7233', namespace: 'default', uiUrl: 'http://127.0.0.1:8233', ours: true },
    simulators: SIMULATORS,
    webhookSecret: 'whsec_bWFkZSBoZXJl',
    encryptionKeys: 'local:made-here',
    ...overrides,
  };
}

test('tells the api where everything is', () => {
  expect(apiEnvironment(facts())).toEqual({
    PATH: '/bin',
    DATABASE_URL: 'postgresql://here/batchgate',
    BATCHGATE_HOST: '127.0.0.1',
    BATCHGATE_PORT: '8080',
    BATCHGATE_SPOOL_DIR: '/data/spool',
    BATCHGATE_ARTIFACT_STORE: 'file:///data/artifacts',
    BATCHGATE_TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
    BATCHGATE_ENCRYPTION_KEYS: 'local:made-here',
    OPENAI_WEBHOOK_SECRET: 'whsec_bWFkZSBoZXJl',
    GEMINI_WEBHOOK_SECRET: 'whsec_bWFkZSBoZXJl',
    OPENAI_API_KEY: 'sim-key',
    OPENAI_BASE_URL: 'http://127.0.0.1:9101/v1',
    ANTHROPIC_API_KEY: 'sim-key',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9102',
    GEMINI_API_KEY: 'sim-key',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9103',
    TEMPORAL_ADDRESS: '127.0.0.1:7233',
    TEMPORAL_NAMESPACE: 'default',
    TEMPORAL_CONFIG_FILE: '/data/temporal/profile.toml',
  });
});

test('leaves an artifact store of our own as it is', () => {
  const environment = { BATCHGATE_ARTIFACT_STORE: 's3://bucket/prefix' };
  expect(apiEnvironment(facts({ environment }))['BATCHGATE_ARTIFACT_STORE']).toBe('s3://bucket/prefix');
});

test('points the worker at the simulators, with short waits', () => {
  expect(workerEnvironment(facts())).toMatchObject({
    BATCHGATE_WORKER_HEALTH_PORT: '8081',
    OPENAI_API_KEY: 'sim-key',
    OPENAI_BASE_URL: 'http://127.0.0.1:9101/v1',
    ANTHROPIC_API_KEY: 'sim-key',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9102',
    GEMINI_API_KEY: 'sim-key',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9103',
    BATCHGATE_POLL_MIN_MS: '250',
    BATCHGATE_POLL_MAX_MS: '3000',
    BATCHGATE_RESULT_GRACE_MS: '2000',
  });
});

test('takes events of a real provider by its own secret, and of none by that of the simulators', () => {
  const environment = {
    OPENAI_API_KEY: 'sk-real',
    OPENAI_WEBHOOK_SECRET: 'whsec_cmVhbA==',
    GEMINI_WEBHOOK_SECRET: 'x',
  };
  expect(apiEnvironment(facts({ environment, simulators: { ...SIMULATORS, openai: null } }))).toMatchObject({
    OPENAI_WEBHOOK_SECRET: 'whsec_cmVhbA==',
    GEMINI_WEBHOOK_SECRET: 'whsec_bWFkZSBoZXJl',
  });
  const unset = apiEnvironment(facts({ simulators: REAL }));
  expect(unset).not.toHaveProperty('OPENAI_WEBHOOK_SECRET');
  expect(unset).not.toHaveProperty('GEMINI_WEBHOOK_SECRET');
});

test('does not repeat the path of a simulator that already says it', () => {
  const environment = workerEnvironment(facts({ simulators: { ...SIMULATORS, openai: 'http://127.0.0.1:9101/v1' } }));
  expect(environment['OPENAI_BASE_URL']).toBe('http://127.0.0.1:9101/v1');
});

test('leaves real providers, and how often they are asked, to the environment', () => {
  const environment = {
    OPENAI_API_KEY: 'sk-real',
    OPENAI_BASE_URL: 'https://proxy.example/v1',
    ANTHROPIC_API_KEY: 'sk-ant-real',
    GEMINI_API_KEY: 'real',
  };
  expect(simulatedProviders(environment)).toEqual({ openai: false, anthropic: false, gemini: false });
  const worker = workerEnvironment(facts({ environment, simulators: REAL }));
  expect(worker).toMatchObject(environment);
  expect(worker['ANTHROPIC_BASE_URL']).toBeUndefined();
  expect(worker['BATCHGATE_POLL_MIN_MS']).toBeUndefined();
});

test('beside a real provider the others are simulated, and nothing is asked at the pace of a simulator', () => {
  const environment = { ANTHROPIC_API_KEY: 'sk-ant-real' };
  expect(simulatedProviders(environment)).toEqual({ openai: true, anthropic: false, gemini: true });
  const worker = workerEnvironment(facts({ environment, simulators: { ...SIMULATORS, anthropic: null } }));
  expect(worker).toMatchObject({ ANTHROPIC_API_KEY: 'sk-ant-real', OPENAI_API_KEY: 'sim-key' });
  expect(worker['ANTHROPIC_BASE_URL']).toBeUndefined();
  expect(worker['BATCHGATE_POLL_MIN_MS']).toBeUndefined();
});

test.each([[{}], [{ OPENAI_API_KEY: '' }], [{ OPENAI_API_KEY: undefined, OPENAI_BASE_URL: 'http://x/v1' }]])(
  'simulates a provider without a key: %j',
  (environment) => {
    expect(simulatedProviders(environment).openai).toBe(true);
  },
);

test.each([
  [{ BATCHGATE_POLL_MIN_MS: '1000' }, '1000', '3000'],
  [{ BATCHGATE_POLL_MIN_MS: '9000' }, '9000', '9000'],
  [{ BATCHGATE_POLL_MAX_MS: '100' }, '100', '100'],
  [{ BATCHGATE_POLL_MIN_MS: '5', BATCHGATE_POLL_MAX_MS: '50' }, '5', '50'],
  [{ BATCHGATE_POLL_MIN_MS: '' }, '250', '3000'],
])('with %j polls from %s to %s ms', (environment, minMs, maxMs) => {
  const worker = workerEnvironment(facts({ environment }));
  expect([worker['BATCHGATE_POLL_MIN_MS'], worker['BATCHGATE_POLL_MAX_MS']]).toEqual([minMs, maxMs]);
});

test('hands the key of another Temporal only to a Temporal that is not ours', () => {
  const environment = { TEMPORAL_API_KEY: 'secret', TEMPORAL_TLS: 'true' };
  expect(apiEnvironment(facts({ environment }))).not.toHaveProperty('TEMPORAL_API_KEY');
  const temporal = { address: 'cloud:7233', namespace: 'prod', uiUrl: null, ours: false };
  expect(apiEnvironment(facts({ environment, temporal }))).toMatchObject({
    TEMPORAL_API_KEY: 'secret',
    TEMPORAL_ADDRESS: 'cloud:7233',
    TEMPORAL_NAMESPACE: 'prod',
    BATCHGATE_TEMPORAL_UI_URL: undefined,
  });
});
