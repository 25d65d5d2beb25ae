import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { leaveReadyFile } from '../../local/ready-file.ts';
import { type FakeAdmin, startFakeAdmin } from '../testing/fake-admin.ts';
import { fakeReady } from '../testing/fake-ready.ts';
import { runCli } from '../testing/run-cli.ts';

let gateway: FakeAdmin;
beforeEach(async () => {
  gateway = await startFakeAdmin();
});
afterEach(() => gateway.close());

function run(args: readonly string[], standardInput = '') {
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant', BATCHGATE_ADMIN_KEY: 'admin' };
  return runCli(args, { environment, standardInput });
}

const cells = (out: string, line: number) => out.split('\n')[line]?.split(/ {2,}/);
const FAST = {
  fast: [
    { provider: 'openai', model: 'gpt-x', weight: 3 },
    { provider: 'gemini', model: 'g', region: 'eu' },
  ],
};

test('aliases set sends the whole map, shows it and warns; get shows it again', async () => {
  const set = await run(['admin', 'aliases', 'set', 'tenant_a', '-'], JSON.stringify(FAST));
  expect(gateway.bodies).toEqual([{ aliases: FAST }]);
  expect(set.code).toBe(0);
  expect(set.err).toBe('warning: aliases.fast[0]: No batch price is known.\n');
  expect(cells(set.out, 1)).toEqual(['fast', 'openai/gpt-x', '-', '3']);
  expect(cells(set.out, 2)).toEqual(['fast', 'gemini/g', 'eu', '-']);
  expect((await run(['admin', 'aliases', 'get', 'tenant_a'])).out).toBe(set.out);
  expect(gateway.keys).toEqual(['admin', 'admin']);
});

test('what aliases get --json prints can be set again', async () => {
  await run(['admin', 'aliases', 'set', 'tenant_a', '-'], JSON.stringify(FAST));
  const { out } = await run(['admin', 'aliases', 'get', 'tenant_a', '--json']);
  await run(['admin', 'aliases', 'set', 'tenant_a', '-'], out);
  expect(gateway.bodies[1]).toEqual({ aliases: FAST });
});

test('an alias may be called aliases', async () => {
  const map = { aliases: FAST.fast };
  await run(['admin', 'aliases', 'set', 'tenant_a', '-'], JSON.stringify(map));
  expect(gateway.bodies).toEqual([{ aliases: map }]);
});

test('a tenant without aliases is told so', async () => {
  expect((await run(['admin', 'aliases', 'get', 'tenant_a'])).out).toBe('tenant_a has no aliases of its own.\n');
});

test('allow sets, lifts and shows the lists of a tenant', async () => {
  const set = await run(['admin', 'allow', 'tenant_a', '--models', 'fast, openai/gpt-x', '--providers', 'openai']);
  expect(set.out).toBe('tenant     tenant_a\nmodels     fast, openai/gpt-x\nproviders  openai\n');
  await run(['admin', 'allow', 'tenant_a', '--providers', 'all']);
  expect(gateway.bodies).toEqual([
    { allowed_models: ['fast', 'openai/gpt-x'], allowed_providers: ['openai'] },
    { allowed_providers: null },
  ]);
  const shown = await run(['admin', 'allow', 'tenant_a']);
  expect(shown.out).toBe('tenant     tenant_a\nmodels     fast, openai/gpt-x\nproviders  all\n');
  expect(gateway.calls.at(-1)).toBe('GET /v1/admin/tenants/tenant_a');
});

test('allow --key sets the lists of one key', async () => {
  const { out } = await run(['admin', 'allow', 'tenant_a', '--key', 'key_1', '--models', 'fast']);
  expect(out).toBe('key        key_1\nmodels     fast\nproviders  all\n');
  expect(gateway.calls).toEqual(['PATCH /v1/admin/tenants/tenant_a/keys/key_1']);
  expect(gateway.keys).toEqual(['admin']);
});

test('prices list reads every page', async () => {
  const { out } = await run(['admin', 'prices', 'list', '--tenant', 'tenant_a', '--withdrawn']);
  expect(cells(out, 1)).toEqual([
    'price_1',
    'every tenant',
    'openai/gpt-x',
    '2026-12-01',
    '1',
    '2.25',
    'USD',
    '-',
    'agreed',
  ]);
  expect(gateway.calls).toEqual([
    'GET /v1/admin/prices?tenant_id=tenant_a&withdrawn=include&limit=1000',
    'GET /v1/admin/prices?tenant_id=tenant_a&withdrawn=include&cursor=more&limit=1000',
  ]);
});

test('prices add sends the file as it is, and withdraw names the price', async () => {
  const { code } = await run(['admin', 'prices', 'add', '-'], '{"provider":"openai","odd":1}');
  expect(code).toBe(0);
  expect(gateway.bodies).toEqual([{ provider: 'openai', odd: 1 }]);
  const { out } = await run(['admin', 'prices', 'withdraw', 'price_1', '--json']);
  expect(JSON.parse(out).withdrawn_at).toBe('2026-08-20T10:00:00.000Z');
});

test('capabilities add says what the options say', async () => {
  const what = ['--provider', 'openai', '--endpoint', 'responses', '--model', 'gpt-x*', '--tenant', 'tenant_a'];
  const { out } = await run([
    'admin',
    'capabilities',
    'add',
    ...what,
    '--feature',
    'tools',
    '--deny',
    '--reason',
    'Under repair.',
  ]);
  const said = { tenant_id: 'tenant_a', provider: 'openai', endpoint: 'responses', model: 'gpt-x*' };
  expect(gateway.bodies).toEqual([{ ...said, feature: 'tools', is_allowed: false, reason: 'Under repair.' }]);
  expect(cells(out, 1)?.slice(0, 6)).toEqual(['cap_1', 'tenant_a', 'openai/gpt-x*', 'responses', 'tools', 'no']);
  await run(['admin', 'capabilities', 'add', ...what, '--allow', '--reason', 'It works.']);
  expect(gateway.bodies[1]).toEqual({ ...said, is_allowed: true, reason: 'It works.' });
});

test('capabilities list and withdraw', async () => {
  expect(cells((await run(['admin', 'capabilities', 'list'])).out, 1)?.[0]).toBe('cap_1');
  await run(['admin', 'capabilities', 'withdraw', 'cap_1']);
  expect(gateway.calls.at(-1)).toBe('DELETE /v1/admin/capabilities/cap_1');
});

const ADD = ['admin', 'capabilities', 'add', '--provider', 'openai', '--model', 'x'];
test.each([
  [['admin'], 'admin needs a topic: admin tenants, admin projects, admin customers, '],
  [['admin', 'pricess'], 'There is no command pricess. Did you mean prices?'],
  [['admin', 'prices'], 'admin prices needs ACTION'],
  [['admin', 'prices', 'lits'], 'ACTION "lits" is not known. Did you mean list?'],
  [['admin', 'prices', 'add'], 'admin prices add needs FILE.'],
  [['admin', 'prices', 'list', 'x'], 'admin prices list takes no further argument "x".'],
  [['admin', 'prices', 'add', '/no/such.json'], '/no/such.json: there is no such file'],
  [['admin', 'prices', 'add', '-'], 'standard input: not valid JSON'],
  [['admin', 'aliases', 'set', 'tenant_a'], 'admin aliases set needs FILE'],
  [['admin', 'aliases', 'get', 'tenant_a', 'x'], 'admin aliases get takes no FILE'],
  [['admin', 'allow', 'tenant_a', '--models', 'a,,b'], '--models has an empty name'],
  [[...ADD, '--endpoint', 'responses', '--reason', 'x'], 'admin capabilities add needs --allow or --deny.'],
  [[...ADD, '--endpoint', 'respond', '--allow', '--reason', 'x'], 'Did you mean responses?'],
  [[...ADD, '--endpoint', 'responses', '--allow'], 'admin capabilities add needs --reason.'],
  [[...ADD, '--endpoint', 'responses', '--allow', '--reason', 'x', '--feature', 'tool'], 'Did you mean tools?'],
])('%j is refused before anything is asked', async (args, message) => {
  const { code, err } = await run(args);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(gateway.calls).toEqual([]);
});

test('help names the topics, and each tells about itself', async () => {
  const { out } = await run(['help', 'admin']);
  expect((await run(['admin', '--help'])).out).toBe(out);
  for (const topic of ['aliases', 'allow', 'budgets', 'prices', 'capabilities']) {
    expect(out).toContain(`  admin ${topic}`);
    const help = (await run(['help', 'admin', topic])).out;
    expect(help).toContain(`Usage: batchgate admin ${topic} `);
    expect(help).toContain('--admin-key KEY');
    expect((await run(['admin', topic, '--help'])).out).toBe(help);
  }
});

test('the key of an admin is asked for', async () => {
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant' };
  const { code, err } = await runCli(['admin', 'prices', 'list'], { environment });
  expect([code, err]).toEqual([
    2,
    'error: The key of a gateway admin is needed: give --admin-key or BATCHGATE_ADMIN_KEY.\n',
  ]);
});

test('with a local stack the key is its own', async () => {
  const data = mkdtempSync(join(tmpdir(), 'batchgate-admin-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  leaveReadyFile(data, fakeReady(gateway.url));
  expect((await runCli(['admin', 'aliases', 'get', 'tenant_a', '--data', data])).code).toBe(0);
  expect(gateway.keys).toEqual(['stack-admin']);
});
