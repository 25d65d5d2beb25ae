import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../db/api-keys.ts';
import type { Role } from '../../domain/principal.ts';
import { Caller, startGateway, TEST_WEBHOOK_SECRET, type TestGateway } from '../harness/gateway.ts';
import { prompts } from '../harness/provider-side.ts';
import { installSchemathesis, runSchemathesis } from '../harness/schemathesis.ts';
import { GatewayStack } from '../harness/stack.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
/** Whoever finds a fault runs it again with the seed that is told of in the output. */
const SEED = Number(process.env['BATCHGATE_FUZZ_SEED'] ?? (isShort ? 1 : Math.floor(Math.random() * 2 ** 31)));
/** A process lets through what fuzzing sends; that calls beyond a limit are refused is tested elsewhere. */
const UNLIMITED = '100000000';

const ROLES = ['tenant_admin', 'operator', 'gateway_admin'] as const satisfies readonly Role[];

/** A tenant with one of everything that a path can name; the ids by the names of their parameters. */
interface World {
  readonly tenantId: string;
  readonly known: { readonly [parameter: string]: readonly string[] };
}

interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: { readonly 'x-roles'?: readonly Role[] } } };
}

let gateway: TestGateway;
let stack: GatewayStack;
let url: string;
let directory: string;
let folder: string;
let document: Document;
const worlds = new Map<Role, World>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchgate-fuzz-'));
  [directory, gateway] = await Promise.all([installSchemathesis(), startGateway()]);
  stack = GatewayStack.of(gateway, {
    BATCHGATE_ALLOWED_FETCH_HOSTS: '127.0.0.1',
    BATCHGATE_REQUESTS_PER_MINUTE: UNLIMITED,
    BATCHGATE_REFUSED_KEYS_PER_MINUTE: UNLIMITED,
    OPENAI_WEBHOOK_SECRET: TEST_WEBHOOK_SECRET,
  });
  ({ url } = await stack.startApi());
  document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  // Before anything is fuzzed: what an admin's run sets for the whole gateway would meet the others' jobs.
  for (const role of ROLES) worlds.set(role, await furnish());
});
afterAll(async () => {
  await stack.stop();
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The routes that a role may call, and those that ask for no key. A short run takes each once, for the first role. */
function routesOf(role: (typeof ROLES)[number]): Document {
  const before = isShort ? ROLES.slice(0, ROLES.indexOf(role)) : [];
  const isWanted = (roles: readonly Role[] = ROLES) =>
    roles.includes(role) && !before.some((earlier) => roles.includes(earlier));
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).filter(([, { 'x-roles': roles }]) => isWanted(roles));
    return [path, Object.fromEntries(operations)] as const;
  });
  return { ...document, paths: Object.fromEntries(paths.filter(([, item]) => Object.keys(item).length > 0)) };
}

async function furnish(): Promise<World> {
  const { tenantId, caller } = await gateway.newTenant();
  const [tenant, admin] = [new Caller(url, caller.key), new Caller(url, await keyOf('gateway_admin', null))];
  const made = async (by: Caller, path: string, id: string, body?: unknown): Promise<string> =>
    String((await by.call<Record<string, unknown>>('POST', path, body))[id]);
  const ended = await tenant.submitPrompts(prompts(2));
  await tenant.ended(ended);
  const of = `/v1/admin/tenants/${tenantId}`;
  const endpoint = await made(tenant, '/v1/webhooks', 'endpoint_id', { url: 'http://127.0.0.1:9/' });
  // Of a provider that no job here goes to: the gateway's own is one for all tenants.
  const credential = { provider: 'gemini', name: 'fuzz', api_key: 'fuzz-key-0123456789' };
  const known = {
    tenant_id: [tenantId],
    job_id: [ended, await tenant.createJob()],
    custom_id: ['row_1'],
    provider: ['openai'],
    endpoint_id: [endpoint],
    delivery_id: [await made(tenant, `/v1/webhooks/${endpoint}/test`, 'delivery_id')],
    schedule_id: [
      await made(tenant, '/v1/batch-schedules', 'schedule_id', {
        name: 'nightly',
        schedule: { cron: '0 2 * * *' },
        job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' },
        items: { manifest_of_job: ended },
      }),
    ],
    project_id: [await made(admin, `${of}/projects`, 'project_id', { name: 'web' })],
    customer_id: [await made(admin, `${of}/customers`, 'customer_id', { name: 'one' })],
    key_id: [
      await made(admin, `${of}/keys`, 'key_id', { role: 'tenant_admin', name: 'one' }),
      await made(admin, '/v1/admin/keys', 'key_id', { role: 'operator', name: 'one' }),
    ],
    credential_id: [
      await made(admin, `${of}/credentials`, 'credential_id', credential),
      await made(admin, '/v1/admin/credentials', 'credential_id', credential),
    ],
  };
  return { tenantId, known };
}

async function keyOf(role: Role, tenantId: string | null): Promise<string> {
  return (await createKey(gateway.database.db.pool, { role, name: 'fuzz', tenantId })).key;
}

const testEach = isShort ? test.concurrent.each(ROLES) : test.each(ROLES);
testEach('every answer to a fuzzing key of the role %s is one that the OpenAPI document declares', async (role) => {
  const { tenantId, known } = worlds.get(role) ?? (await furnish());
  const ofTenant = role === 'tenant_admin' ? tenantId : null;
  const { key, keyId } = await createKey(gateway.database.db.pool, { role, name: 'fuzz', tenantId: ofTenant });
  const faults = await runSchemathesis(directory, {
    document: routesOf(role),
    url,
    key,
    keyId,
    known,
    phases: isShort ? ['fuzzing'] : ['coverage', 'fuzzing', 'stateful'],
    examples: isShort ? 2 : 40,
    seed: SEED,
    folder: await mkdtemp(join(folder, 'run-')),
  });
  expect(faults).toBe('');
  // It was not locked out on the way.
  expect((await new Caller(url, key).fetch('/v1/models')).status).not.toBe(401);
});
