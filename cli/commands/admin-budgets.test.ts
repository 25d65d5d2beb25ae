import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeAdmin, startFakeAdmin } from '../testing/fake-admin.ts';
import { runCli } from '../testing/run-cli.ts';

let gateway: FakeAdmin;
beforeEach(async () => {
  gateway = await startFakeAdmin();
});
afterEach(() => gateway.close());

function run(...args: readonly string[]) {
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant', BATCHGATE_ADMIN_KEY: 'admin' };
  return runCli(['admin', 'budgets', ...args], { environment });
}

const cells = (out: string, line: number) => out.split('\n')[line]?.split(/ {2,}/);

test('list shows every budget, with the alerts that were reached', async () => {
  const { out } = await run('list', 'tenant_a');
  const month = ['tenant tenant_a', 'month from 2026-08-01', '10.00', '1.00', '8.00', '1.00', 'USD', '80 % reached'];
  expect(cells(out, 1)).toEqual(month);
  expect(gateway.calls).toEqual(['GET /v1/admin/tenants/tenant_a/budgets']);
});

test('set sends what the options say, and shows the budgets as they are then', async () => {
  const { out } = await run('set', 'tenant_a', '--period', 'month', '--limit', '25.50', '--alerts', '50, 80');
  expect(cells(out, 1)?.[2]).toBe('25.50');
  await run('set', 'tenant_a', '--project', 'web', '--limit', '1', '--alerts', 'none');
  await run('set', 'tenant_a', '--customer', 'cust_1', '--limit', '0');
  expect(gateway.bodies).toEqual([
    { scope: 'tenant', period: 'month', limit: '25.50', alert_percents: [50, 80] },
    { scope: 'project', scope_id: 'web', period: 'total', limit: '1', alert_percents: [] },
    { scope: 'customer', scope_id: 'cust_1', period: 'total', limit: '0' },
  ]);
  expect(gateway.keys).toEqual(['admin', 'admin', 'admin']);
});

test('remove lifts the limit', async () => {
  expect((await run('remove', 'tenant_a', '--period', 'month')).out).toBe('No budget limits tenant_a.\n');
  expect(gateway.bodies).toEqual([{ scope: 'tenant', period: 'month', limit: null }]);
});

test.each([
  [['set', 'tenant_a'], 'admin budgets set needs --limit.'],
  [['set', 'tenant_a', '--limit', '1e3'], '--limit must be a plain decimal amount'],
  [['set', 'tenant_a', '--limit', '1', '--alerts', '80,0'], '--alerts must be a whole number, from 1 to 1000'],
  [['set', 'tenant_a', '--limit', '1', '--period', 'mont'], 'Did you mean month?'],
  [['set', 'tenant_a', '--limit', '1', '--project', 'a', '--customer', 'b'], 'not of both'],
  [['lst', 'tenant_a'], 'Did you mean list?'],
])('%j is refused before anything is asked', async (args, message) => {
  const { code, err } = await run(...args);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(gateway.calls).toEqual([]);
});
