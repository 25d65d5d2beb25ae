import { afterAll, beforeEach, expect, test } from 'vitest';
import { deleteCustomerData } from '../../../activities/customer-data.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { ApiCaller } from '../../harness/api.ts';
import { BATCH_PRICE, TestRuns } from '../../harness/document-runs.ts';
import { catalogueOf, refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});

let runs: TestRuns;
let caller: ApiCaller;
beforeEach(async () => {
  runs = new TestRuns(db, folder.store);
  caller = await runs.caller();
});

async function handedOver(...texts: readonly string[]): Promise<string> {
  for (const text of texts) await upload(caller, 'b', text);
  const runId = await runs.process(caller, 'b', { mode: 'batch' });
  expect(await runs.untilWaiting(runId)).toMatchObject({ kind: 'wait' });
  return runId;
}

async function states(): Promise<string[]> {
  return (await runs.documents(caller, 'b')).map(({ status }: { status: string }) => status);
}

const deleteBatch = () => caller.call('DELETE', '/v1/batches/b');

/** The provider ends what it has, and everything comes to its end. */
async function finish(runId: string): Promise<void> {
  runs.provider.endAll();
  expect(await runs.driveJob(runId)).toBe(true);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
}

test('a file that was being uploaded when its documents were canceled is not sent', async () => {
  const runId = await handedOver('one', 'two');
  runs.provider.onUpload = async () => {
    await deleteBatch();
    // The run may hear of it before the create is taken.
    await runs.review(runId);
  };
  expect(await runs.driveJob(runId)).toBe(true);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(runs.provider.inputs).toHaveLength(1);
  expect(runs.provider.creates).toEqual([]);
  expect(await states()).toEqual(['canceled', 'canceled']);
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
});

test('nor is it where the run does not hear of it before the create', async () => {
  const runId = await handedOver('one', 'two');
  runs.provider.onUpload = async () => void (await deleteBatch());
  expect(await runs.driveJob(runId)).toBe(true);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(runs.provider.creates).toEqual([]);
  expect(await states()).toEqual(['canceled', 'canceled']);
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
});

test('a file that waits to be sent again is not sent once its documents are canceled', async () => {
  const runId = await handedOver('one');
  runs.provider.onCreate = async () => Promise.reject(refusal('rate_limited'));
  expect(await runs.driveJob(runId)).toBe(false);
  expect(runs.provider.creates).toHaveLength(1);
  await deleteBatch();
  expect(await states()).toEqual(['canceled']);
  await runs.review(runId);
  expect(runs.wokenShards).toEqual([`${runId}/1`]);
  expect(await runs.driveJob(runId)).toBe(true);
  expect(runs.provider.creates).toHaveLength(1);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
});

test('what is on its way when the batch is deleted is not canceled: it is processed, and charged for', async () => {
  const runId = await handedOver('one', 'two');
  runs.provider.onCreate = async () => {
    const deleted = await deleteBatch();
    expect(deleted.json).toMatchObject({ counts: { queued: 2, canceled: 0 }, all_done: false });
    await runs.review(runId);
    return {};
  };
  expect(await runs.driveJob(runId)).toBe(false);
  expect(await states()).toEqual(['processing', 'processing']);
  await finish(runId);
  expect(await states()).toEqual(['succeeded', 'succeeded']);
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'completed', settled: 2n * BATCH_PRICE, held: 0n });
  expect(await runs.events(caller)).toMatchObject([{ run_id: runId, status: 'succeeded', all_done: true }]);
});

test('what was on its way then, and came to nothing, is canceled: no second batch is made', async () => {
  const runId = await handedOver('one');
  runs.provider.onCreate = async () => {
    await deleteBatch();
    throw new ProviderError({ code: 'unavailable', message: 'lost', isRetryable: true, mayHaveActed: true });
  };
  expect(await runs.driveJob(runId)).toBe(false);
  expect(await states()).toEqual(['queued']);
  // Still nobody knows.
  await runs.review(runId);
  expect(await runs.driveJob(runId)).toBe(false);
  expect(await states()).toEqual(['queued']);
  runs.advance(600_000);
  expect(await runs.driveJob(runId)).toBe(true);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(runs.provider.creates).toHaveLength(1);
  expect(await states()).toEqual(['canceled']);
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
});

test('so it is where the create was refused and would be sent again', async () => {
  const runId = await handedOver('one');
  runs.provider.onCreate = async () => {
    await deleteBatch();
    throw refusal('rate_limited');
  };
  expect(await runs.driveJob(runId)).toBe(false);
  expect(await runs.driveJob(runId)).toBe(true);
  expect(runs.provider.creates).toHaveLength(1);
  expect(await states()).toEqual(['canceled']);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
});

test('Temporal’s own cancel leaves what is on its way to the provider’s answer', async () => {
  const runId = await handedOver('one');
  runs.provider.onCreate = async () => {
    await runs.review(runId, { cancel: true });
    expect(await states()).toEqual(['queued']);
    return {};
  };
  expect(await runs.driveJob(runId)).toBe(false);
  expect(await states()).toEqual(['processing']);
  runs.provider.endAll('cancelled', () => false);
  expect(await runs.driveJob(runId)).toBe(true);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(await states()).toEqual(['failed']);
});

test('a customer’s data that is to go cancels what waits, and nothing that is on its way', async () => {
  const tenantId = runs.tenants.get(caller) ?? '';
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'c', 'C')", [tenantId]);
  const admin = await runs.api.caller('gateway_admin');
  caller = await runs.api.caller('customer', { tenantId, customerId: 'c' });
  const runId = await handedOver('one');
  runs.provider.onCreate = async () => {
    const path = `/v1/admin/tenants/${tenantId}/customers/c/delete-data`;
    expect((await admin.post(path, { reason: 'asked for' })).status).toBe(202);
    await deleteCustomerData(runs.dependencies);
    expect(await states()).toEqual(['queued']);
    return {};
  };
  expect(await runs.driveJob(runId)).toBe(false);
  expect(await states()).toEqual(['processing']);
  await finish(runId);
  expect((await runs.money(runId))[0]).toMatchObject({ settled: BATCH_PRICE, held: 0n });
});

test('a run whose batch waits for room ends with its documents', async () => {
  runs = new TestRuns(db, folder.store, { catalogue: catalogueOf({ maxConcurrentBatches: 1 }) });
  caller = await runs.caller();
  const first = await handedOver('first');
  await runs.driveJob(first);
  const other = await runs.caller();
  const own = caller;
  caller = other;
  const runId = await handedOver('waits');
  expect(await runs.driveJob(runId)).toBe(false);
  await deleteBatch();
  await runs.review(runId);
  expect(runs.wokenShards).toContain(`${runId}/1`);
  expect(await runs.driveJob(runId)).toBe(true);
  expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
  expect(await states()).toEqual(['canceled']);
  caller = own;
  await finish(first);
});
