import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeAdmin, startFakeAdmin } from '../testing/fake-admin.ts';
import { runCli } from '../testing/run-cli.ts';

let gateway: FakeAdmin;
beforeEach(async () => {
  gateway = await startFakeAdmin();
});
afterEach(() => gateway.close());

const run = (...args: readonly string[]) =>
  runCli(['admin', ...args], { environment: { BATCHGATE_URL: gateway.url, BATCHGATE_ADMIN_KEY: 'admin' } });

test('a hold is set for a customer, shown, and lifted', async () => {
  const set = await run('hold', 'tenant_a', '--customer', 'cust_1', '--reason', 'case 1');
  expect(set.code).toBe(0);
  expect(gateway.bodies).toEqual([{ reason: 'case 1', customer_id: 'cust_1' }]);
  expect(set.out).toMatch(/hold_1 +cust_1 +case 1/);
  expect((await run('holds', 'tenant_a', '--lifted', '--json')).out).toContain('"hold_id":"hold_1"');
  expect((await run('release', 'tenant_a', 'hold_1')).out).toMatch(/hold_1 .*2026/);
  expect(gateway.calls).toEqual([
    'POST /v1/admin/tenants/tenant_a/legal-holds',
    'GET /v1/admin/tenants/tenant_a/legal-holds?limit=1000&lifted=include',
    'DELETE /v1/admin/tenants/tenant_a/legal-holds/hold_1',
  ]);
});

test('a deletion is begun with a reason, and shown by its id', async () => {
  const begun = await run('delete-customer-data', 'tenant_a', 'cust_1', '--reason', 'contract ended');
  expect(begun.code).toBe(0);
  expect(gateway.bodies).toEqual([{ reason: 'contract ended' }]);
  expect(begun.out).toContain('2 jobs, 1 drafts, 4 documents, 2 artifacts');
  expect(begun.out).toMatch(/job_1 +openai +1 /);
  await run('delete-customer-data', 'tenant_a', 'cust_1', '--show', 'del_1', '--json');
  expect(gateway.calls.at(-1)).toBe('GET /v1/admin/tenants/tenant_a/customers/cust_1/data-deletions/del_1');
  expect((await run('delete-customer-data', 'tenant_a', 'cust_1')).code).toBe(2);
});
