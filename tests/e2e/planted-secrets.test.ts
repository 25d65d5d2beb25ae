import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../db/api-keys.ts';
import { eventually } from '../harness/eventually.ts';
import { Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { formsOf, readRawHistories, tablesWith } from '../harness/planted-secrets.ts';
import { faultAt, prompts } from '../harness/provider-side.ts';
import { GatewayStack } from '../harness/stack.ts';

const PROVIDERS = ['openai', 'anthropic', 'gemini'] as const;
type Provider = (typeof PROVIDERS)[number];
const MODELS = {
  openai: 'openai/gpt-4o-mini',
  anthropic: 'anthropic/claude-sonnet-4-6',
  gemini: 'gemini/gemini-2.5-flash',
} as const;

/** Of no shape by which it could be known for a key. */
const keyOf = (provider: Provider) => `planted.${provider}.${randomBytes(12).toString('hex')}`;
const KEYS = { openai: keyOf('openai'), anthropic: keyOf('anthropic'), gemini: keyOf('gemini') };
const SEALING_KEY = randomBytes(32);

let gateway: TestGateway;
let stack: GatewayStack;
beforeAll(async () => {
  gateway = await startGateway({ workers: false });
  stack = GatewayStack.of(gateway, {
    BATCHGATE_ENCRYPTION_KEYS: `planted:${SEALING_KEY.toString('base64')}`,
    BATCHGATE_LOG_LEVEL: 'trace',
  });
});
afterAll(async () => {
  await stack.stop();
  await gateway.stop();
});

/** As providers, or proxies before them, put the key they were sent into what they answer. */
function echo(provider: Provider, status: number): Record<string, unknown> {
  const message = `Incorrect API key provided: ${KEYS[provider]}.`;
  const bodies = {
    openai: { error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' } },
    anthropic: { type: 'error', error: { type: 'authentication_error', message } },
    gemini: { error: { code: status, message, status: 'UNAUTHENTICATED' } },
  };
  return bodies[provider];
}

test('no secret is in a log, a history or a row after a run whose providers echoed the keys', async () => {
  const [api, worker] = await Promise.all([stack.startApi(), stack.startWorker()]);
  const { tenantId, caller } = await gateway.newTenant();
  const admin = await createKey(gateway.database.db.pool, { role: 'gateway_admin', name: 'admin', tenantId: null });
  const environment = { BATCHGATE_URL: api.url, BATCHGATE_ADMIN_KEY: admin.key };
  // The api teaches zod to describe schemas, which has to come before any is made.
  const { runCli } = await import('../../cli/testing/run-cli.ts');
  const credentials = async (args: readonly string[], standardInput = ''): Promise<string> => {
    const { code, out, err } = await runCli(['admin', 'credentials', ...args], { environment, standardInput });
    expect([code, err]).toEqual([0, '']);
    for (const key of Object.values(KEYS)) expect(out).not.toContain(key);
    return out;
  };
  const asTenant = new Caller(api.url, caller.key);
  for (const provider of PROVIDERS) {
    const of = ['--tenant', tenantId, '--provider', provider, '--name', 'planted'];
    const added = await credentials(['add', ...of], 'another-key-to-begin-with');
    const [id = ''] = /cred_\w+/.exec(added) ?? [];
    await credentials(['replace', id, '--tenant', tenantId], `${KEYS[provider]}\n`);
    for (const [route, status] of [
      ['batches.create', 401],
      ['batches.retrieve', 401],
      ['batches.retrieve', 500],
    ] as const)
      await gateway.simulator.faults(faultAt(provider, route, { status, body: echo(provider, status) }));
  }
  expect(await credentials(['list', '--tenant', tenantId])).toContain(KEYS.openai.slice(-4));
  expect((await credentials(['reseal'])).split('\n')[1]).toMatch(/^planted +3$/);
  const jobs = await Promise.all(PROVIDERS.map((name) => asTenant.submitPrompts(prompts(2), { model: MODELS[name] })));
  for (const jobId of jobs) expect((await asTenant.ended(jobId, 60_000)).status).toBe('completed');

  // All of it went out with the tenant's own keys, and the faults were met.
  for (const provider of PROVIDERS) {
    const calls = await gateway.simulator.journal({ provider });
    expect(new Set(calls.map(({ facts }) => facts['credential']))).toEqual(new Set([`...${KEYS[provider].slice(-4)}`]));
    expect(calls.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(2);
  }

  const secrets = [...Object.values(KEYS), SEALING_KEY.toString('base64'), caller.key, admin.key];
  expect(await tablesWith(gateway.database.db, secrets)).toEqual([]);
  const histories = await readRawHistories(gateway.client);
  expect(histories.size).toBeGreaterThanOrEqual(2 * jobs.length);
  const logs = { api: await api.log(), worker: await eventually(async () => (await worker.log()) || null) };
  expect(logs.worker).toContain('provider refused');
  for (const form of secrets.flatMap(formsOf)) {
    expect([...histories].filter(([, bytes]) => bytes.includes(form)).map(([name]) => name)).toEqual([]);
    expect(
      Object.entries(logs)
        .filter(([, text]) => text.includes(form))
        .map(([name]) => name),
    ).toEqual([]);
  }
  // The search finds what is there.
  const [first = ''] = jobs;
  expect([...histories.values()].some((bytes) => bytes.includes(first))).toBe(true);
  expect(await tablesWith(gateway.database.db, [tenantId])).toContain('public.provider_credentials');
});
