import { serve } from '@hono/node-server';
import { afterAll, expect, test } from 'vitest';
import { ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

// After the api: its contracts have to be loaded by way of the library that extends zod.
const { runCli } = await import('../../../cli/testing/run-cli.ts');
const { db, drop } = await createTestDatabase();
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');
const { promise: port, resolve } = Promise.withResolvers<number>();
const server = serve({ fetch: api.app.fetch, hostname: '127.0.0.1', port: 0 }, (info) => resolve(info.port));
afterAll(async () => {
  await new Promise<void>((done) => server.close(() => done()));
  await drop();
});
const environment = { BATCHGATE_URL: `http://127.0.0.1:${await port}`, BATCHGATE_ADMIN_KEY: admin.key };
const run = (...args: string[]) => runCli(['admin', ...args], { environment });

async function runJson(...args: string[]) {
  const { code, out, err } = await run(...args, '--json');
  expect([err, code]).toEqual(['', 0]);
  return out === ''
    ? []
    : out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
}

test('a tenant is made, given a project, a customer and a key that works, and audited', async () => {
  await runJson(
    'tenants',
    'create',
    'tenant_acme',
    '--name',
    'Acme',
    '--currency',
    'EUR',
    '--time-zone',
    'Europe/Berlin',
  );
  expect(await runJson('tenants', 'rename', 'tenant_acme', '--name', 'Acme AG')).toMatchObject([{ currency: 'EUR' }]);
  expect((await run('tenants', 'list')).out).toContain('Acme AG');
  await runJson('projects', 'create', 'tenant_acme', 'web', '--name', 'Web');
  await runJson('projects', 'rename', 'tenant_acme', 'web', '--name', 'Site');
  expect(await runJson('projects', 'list', 'tenant_acme')).toEqual(
    await runJson('projects', 'show', 'tenant_acme', 'web'),
  );
  await runJson('customers', 'create', 'tenant_acme', 'one', '--name', 'One');
  await runJson('customers', 'rename', 'tenant_acme', 'one', '--name', 'First');
  expect(await runJson('customers', 'list', 'tenant_acme')).toMatchObject([{ customer_id: 'one', name: 'First' }]);
  const scopes = ['--scopes', 'jobs:read,usage:read'];
  const made = await run(
    'keys',
    'create',
    '--tenant',
    'tenant_acme',
    '--role',
    'project',
    '--project',
    'web',
    '--name',
    'x',
    ...scopes,
  );
  const key = made.out.trimEnd().split('\n').at(-1) ?? '';
  const caller = new ApiCaller(api.app, key);
  expect((await caller.get('/v1/batch-jobs')).status).toBe(200);
  expect((await caller.get('/v1/models')).status).toBe(403);
  const [shown] = await runJson('keys', 'list', '--tenant', 'tenant_acme');
  expect(shown).toMatchObject({ project_id: 'web', scopes: ['jobs:read', 'usage:read'] });
  const [successor] = await runJson('keys', 'rotate', shown.key_id, '--tenant', 'tenant_acme', '--overlap', '0');
  expect((await caller.get('/v1/batch-jobs')).status).toBe(401);
  expect(await runJson('keys', 'revoke', successor.key_id, '--tenant', 'tenant_acme')).toMatchObject([
    { key_id: successor.key_id },
  ]);
  const acts = (await runJson('audit', '--tenant', 'tenant_acme')).map(({ act }) => act).reverse();
  expect(acts).toEqual([
    ...[
      'tenant.created',
      'tenant.changed',
      'project.created',
      'project.changed',
      'customer.created',
      'customer.changed',
    ],
    ...['key.created', 'key.rotated', 'key.revoked'],
  ]);
  expect((await run('audit', '--act', 'key.revoked', '--limit', '1')).out).toContain(successor.key_id);
});

test('tenants and customers are suspended with a reason and resumed, and a policy is changed and shown', async () => {
  const tenantId = await api.tenant();
  await runJson('customers', 'create', tenantId, 'one', '--name', 'One');
  for (const account of [['tenants'], ['customers']]) {
    const whom = account[0] === 'tenants' ? [tenantId] : [tenantId, 'one'];
    const suspended = await runJson(...account, 'suspend', ...whom, '--reason', 'unpaid');
    expect(suspended).toMatchObject([{ suspension_reason: 'unpaid' }]);
    expect(await runJson(...account, 'resume', ...whom)).toMatchObject([{ suspended_at: null }]);
    expect((await run(...account, 'suspend', ...whom)).err).toContain('--reason');
  }
  const set = ['storage=hashes', 'max_drafts=5', 'content_retention_ms=null', 'expose_provider_errors=true'];
  const [{ policy }] = await runJson('policy', tenantId, ...set.flatMap((member) => ['--set', member]));
  expect(policy).toMatchObject({
    storage: 'hashes',
    max_drafts: 5,
    content_retention_ms: null,
    expose_provider_errors: true,
  });
  expect((await run('policy', tenantId)).out).toMatch(/max_drafts +5 +1000/);
});

test('keys of the gateway need no tenant', async () => {
  const [made] = await runJson(
    'keys',
    'create',
    '--role',
    'operator',
    '--name',
    'on call',
    '--expires',
    '2999-01-01T00:00:00Z',
  );
  expect(made).toMatchObject({ role: 'operator', expires_at: '2999-01-01T00:00:00.000Z' });
  expect(await runJson('keys', 'show', made.key_id)).toMatchObject([{ key_id: made.key_id }]);
});
