import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeAdmin, startFakeAdmin } from '../testing/fake-admin.ts';
import { type FakeGateway, startFakeGateway } from '../testing/fake-gateway.ts';
import { fakeJob } from '../testing/fake-job.ts';
import { runCli } from '../testing/run-cli.ts';

let gateway: FakeGateway;
let admin: FakeAdmin;
beforeEach(async () => {
  gateway = await startFakeGateway();
  admin = await startFakeAdmin();
});
afterEach(async () => {
  await gateway.close();
  await admin.close();
});

const CSV = 'provider,provider_batch_id,billed_amount,currency\nopenai,batch_1,1.25,USD\n';

function operate(args: readonly string[], standardInput = '') {
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_OPERATOR_KEY: 'operator' };
  return runCli(args, { environment, standardInput });
}

function administer(args: readonly string[]) {
  return runCli(args, { environment: { BATCHGATE_URL: admin.url, BATCHGATE_ADMIN_KEY: 'admin' } });
}

test('refund gives back what an item was charged, also of an id that a path cannot carry', async () => {
  const whole = await operate(['refund', 'job_1', '..', '--reason', 'cut off']);
  expect(whole).toMatchObject({ code: 0, out: '.. of job_1: 0.50 of 0.50 USD given back.\n' });
  expect(gateway.calls).toEqual(['POST /v1/operator/jobs/job_1/items/refund?custom_id=..']);
  const part = await operate(['refund', 'job_1', 'row_1', '--reason', 'r', '--amount', '0.10', '--json']);
  expect(JSON.parse(part.out)).toMatchObject({ refunded: '0.10', reason: 'r' });
});

test('status tells what a job cost above its hold, and what became of it', async () => {
  const overage = { amount: '0.25', policy: 'cap', outcome: 'absorbed' } as const;
  gateway.job = fakeJob({ overage });
  const { out } = await runCli(['status', 'job_1'], {
    environment: { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant' },
  });
  expect(out).toMatch(/^overage +0\.25 USD absorbed$/m);
});

test('adjustments import shows what differs, and posts it when told to', async () => {
  const shown = await operate(['adjustments', 'import', '-', '--invoice', 'INV-1'], CSV);
  expect(shown.out).toMatch(/openai +batch_1 +job_1 +1\.25 +1\.00 +0\.25 +USD +differs/);
  expect(shown.out).toMatch(/openai +batch_x +1\.25 +USD/);
  expect(shown.err).toBe("1 adjustment to the gateway's own account would be posted; --confirm posts.\n");
  const posted = await operate(
    ['adjustments', 'import', '-', '--invoice', 'INV-1', '--charge-tenant', '--confirm'],
    CSV,
  );
  expect(posted.err).toBe("1 adjustment posted to the tenants' charges.\n");
  expect(gateway.calls).toEqual([
    'POST /v1/operator/adjustments/preview?invoice=INV-1',
    'POST /v1/operator/adjustments?invoice=INV-1&charge_tenant=true&confirm=true',
  ]);
});

test('admin overage sets and shows the policy of a tenant', async () => {
  const set = await administer(['admin', 'overage', 'tenant_a', '--policy', 'cap']);
  expect(set.out).toBe('tenant   tenant_a\noverage  cap\n');
  expect(admin.bodies).toEqual([{ overage_policy: 'cap' }]);
  expect((await administer(['admin', 'overage', 'tenant_a'])).out).toBe(set.out);
});

test('admin suspensions shows and lifts', async () => {
  const { out } = await administer(['admin', 'suspensions', 'tenant_a']);
  expect(out).toMatch(/susp_1 +customer cust_1 +job_1 +0\.50 +USD/);
  const lifted = await administer([
    'admin',
    'suspensions',
    'tenant_a',
    '--lift',
    'susp_1',
    '--reason',
    'paid',
    '--json',
  ]);
  expect(JSON.parse(lifted.out)).toMatchObject({ suspension_id: 'susp_1', lift_reason: 'paid' });
});

test.each([
  [['refund', 'job_1', 'row_1'], 'refund needs --reason.'],
  [['adjustments', 'export', '-', '--invoice', 'I'], 'adjustments knows one action: import.'],
  [['adjustments', 'import', '-'], 'adjustments import needs --invoice.'],
])('%j is refused before anything is asked', async (args, message) => {
  const { code, err } = await operate(args);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(gateway.calls).toEqual([]);
});

test('a suspension is not lifted without a reason', async () => {
  const { code } = await administer(['admin', 'suspensions', 'tenant_a', '--lift', 'susp_1']);
  expect([code, admin.calls]).toEqual([2, []]);
});
