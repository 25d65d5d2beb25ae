import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ProviderCredential } from '../../contracts/provider-credential.ts';
import { runCli } from '../testing/run-cli.ts';

const SECRET = 'sk-planted-secret-of-a-tenant';
const CREDENTIAL = ProviderCredential.parse({
  ...{ credential_id: 'cred_1', provider: 'openai', tenant_id: 'tenant_a', project_id: 'web', name: 'production' },
  ...{ key_hint: '…x7Qf', created_by: 'key_admin', created_at: '2026-08-19T10:00:00.000Z' },
  ...{ replaced_at: null, revoked_at: null, last_used_at: null },
});

let url: string;
let calls: [call: string, body: unknown][];
let close: () => void;
/** What a call for sealing anew answers, one after the other. */
let reports: { resealed: number; failed: number; sealed: { key_id: string; values: number }[] }[];
beforeEach(async () => {
  const app = new Hono();
  [calls, reports] = [[], []];
  app.use(async (c, next) => {
    const text = await c.req.text();
    calls.push([`${c.req.method} ${new URL(c.req.url).pathname}`, text === '' ? null : JSON.parse(text)]);
    await next();
  });
  app.post('/v1/admin/encryption/reseal', (c) => c.json({ current_key_id: 'new', ...reports.shift() }));
  app.get('*', (c) => c.json({ data: [CREDENTIAL], next_cursor: null }));
  app.post('*', (c) => c.json(CREDENTIAL, 200));
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port));
  url = `http://127.0.0.1:${await promise}`;
  close = () => server.close();
});
afterEach(() => close());

function run(args: string, { stdin = '', key }: { stdin?: string; key?: string } = {}) {
  const environment = {
    ...{ BATCHGATE_URL: url, BATCHGATE_ADMIN_KEY: 'admin' },
    ...(key !== undefined && { BATCHGATE_PROVIDER_KEY: key }),
  };
  return runCli(['admin', 'credentials', ...args.split(' ')], { environment, standardInput: stdin });
}

test.each([
  ['standard input', { stdin: `${SECRET}\n` }],
  ['the environment', { key: SECRET }],
])('add and replace take the key from %s and show what is stored, without it', async (_, given) => {
  const added = await run('add --tenant tenant_a --project web --provider openai --name production', given);
  const replaced = await run('replace cred_1 --tenant tenant_a', given);
  const of = '/v1/admin/tenants/tenant_a/credentials';
  expect(calls).toEqual([
    [`POST ${of}`, { provider: 'openai', name: 'production', project_id: 'web', api_key: SECRET }],
    [`POST ${of}/cred_1/replace`, { api_key: SECRET }],
  ]);
  for (const { code, out, err } of [added, replaced]) {
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('cred_1');
    expect(out).toContain('…x7Qf');
    expect(out).not.toContain(SECRET);
  }
});

test('without a tenant it is the gateway’s own that are added, listed and revoked', async () => {
  await run('add --provider openai --name shared', { stdin: SECRET });
  expect((await run('list')).out).toContain('tenant_a web');
  await run('revoke cred_1');
  const of = '/v1/admin/credentials';
  expect(calls.map(([call]) => call)).toEqual([`POST ${of}`, `GET ${of}`, `POST ${of}/cred_1/revoke`]);
});

test('reseal goes on until a call finds nothing more, and fails where something cannot be opened', async () => {
  const left = (key_id: string, values: number) => ({ key_id, values });
  reports = [
    { resealed: 500, failed: 0, sealed: [left('new', 500), left('old', 3)] },
    { resealed: 3, failed: 0, sealed: [left('new', 503)] },
    { resealed: 0, failed: 0, sealed: [left('new', 503)] },
  ];
  const { code, out } = await run('reseal');
  expect([code, out]).toEqual([0, 'KEY  SEALS\nnew    503\n']);
  reports = [{ resealed: 0, failed: 2, sealed: [left('gone', 2)] }];
  const failed = await run('reseal');
  expect([failed.code, failed.err]).toEqual([1, 'warning: 2 values cannot be opened: their key is gone.\n']);
});

test.each([
  ['add --provider openai --name x', '', 'No key was given: set BATCHGATE_PROVIDER_KEY, or send it to standard input.'],
  ['add --name x', SECRET, 'admin credentials add needs --provider.'],
  ['add --provider openai', SECRET, 'admin credentials add needs --name.'],
  ['add --provider openai --name x --project web', SECRET, '--project needs --tenant.'],
  ['replace', SECRET, 'admin credentials replace needs ID.'],
])('%s is refused before anything is sent', async (args, stdin, message) => {
  const { code, err } = await run(args, { stdin });
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(calls).toEqual([]);
});
