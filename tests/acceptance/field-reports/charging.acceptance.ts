import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createProviderActivities } from '../../../activities/create-activities.ts';
import { createJobActivities } from '../../../activities/job.ts';
import { createKey } from '../../../db/api-keys.ts';
import type { Fault } from '../../../simulators/faults.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { eventually } from '../../harness/eventually.ts';
import { Caller, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchesOf, batchOf, openai, prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitHalfDone, withStatus } from '../../harness/sound-end.ts';

/** 1000 × 0.075 + 100 × 0.3 dollars per million tokens. */
const MARK = '[[sim:usage=1000,100]]';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

/** Everything the ledger says of a job, but for when. */
async function wholeLedger(caller: Caller, jobId: string): Promise<unknown[]> {
  const path = `/v1/batch-jobs/${jobId}/ledger?limit=500`;
  const { data, next_cursor: next } = await caller.call<{ data: unknown[]; next_cursor: string | null }>('GET', path);
  expect(next).toBeNull();
  return data;
}

/** The activities of a second worker, for running a step again beside the one that ran it. */
function secondWorker() {
  const dependencies = testDependencies(gateway.database.db, { providers: gateway.providers });
  return { ...createProviderActivities(dependencies), ...createJobActivities(dependencies) };
}

test('M-01: reads and polls of an ended job, ten at a time, move no money', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.submitPrompts([...prompts(8, MARK), '[[sim:error=server_error]]']);
  const { job } = await soundEnd(gateway, caller, jobId);
  const [ledger, budget] = [await wholeLedger(caller, jobId), await caller.budget()];
  expect(budget.settled).toBe('0.00084');
  const reads = [
    () => caller.job(jobId),
    () => caller.results(jobId),
    () => caller.call('GET', `/v1/batch-jobs/${jobId}/items/row_1`),
    () => caller.call('GET', `/v1/batch-jobs/${jobId}/usage`),
    () => gateway.operator.call('POST', `/v1/operator/jobs/${jobId}/poll-now`),
  ];
  for (let round = 0; round < 10; round += 1) await Promise.all([...reads, ...reads].map((read) => read()));
  expect(await caller.job(jobId)).toEqual(job);
  expect(await wholeLedger(caller, jobId)).toEqual(ledger);
  expect(await caller.budget()).toEqual(budget);
  await gateway.expectSound(jobId);
});

test('M-01: polls asked for while the job runs and ends charge each item once', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 12, finished: 3 });
  const pollNow = () => gateway.operator.call('POST', `/v1/operator/jobs/${jobId}/poll-now`);
  const batch = await batchOf(gateway, jobId);
  await Promise.all([
    ...Array.from({ length: 5 }, pollNow),
    gateway.simulator.batch(batch.id, { stuck: null }),
    pollNow(),
  ]);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 12 } });
  const settled = (await wholeLedger(caller, jobId)).filter((entry) => JSON.stringify(entry).includes('item.settled'));
  expect(settled).toHaveLength(rows.length);
});

const ENDS: {
  status: 'failed' | 'expired' | 'cancelled';
  end: Fault['action']['end_state'];
  jobStatus: string;
  others: string;
}[] = [
  { status: 'failed', end: { status: 'failed', finished: 2 }, jobStatus: 'completed_with_errors', others: 'failed' },
  {
    status: 'failed',
    end: { status: 'failed', finished: 2, errors: [{ code: 'invalid_request', message: 'bad', line: 3 }] },
    jobStatus: 'completed_with_errors',
    others: 'failed',
  },
  {
    status: 'failed',
    end: {
      status: 'failed',
      finished: 2,
      errors: [{ code: 'token_limit_exceeded', message: 'Enqueued token limit reached' }],
    },
    jobStatus: 'completed_with_errors',
    others: 'failed',
  },
  { status: 'expired', end: { status: 'expired', finished: 2 }, jobStatus: 'expired', others: 'expired' },
  { status: 'cancelled', end: { status: 'cancelled', finished: 2 }, jobStatus: 'cancelled', others: 'cancelled' },
];

test.each(ENDS)(
  'M-03: a batch that ends $status with 2 of 5 lines in its output file is billed for two ($end)',
  async (scene) => {
    const { caller } = await gateway.newTenant();
    await gateway.simulator.faults(openai('batches.create', { end_state: scene.end }));
    const jobId = await caller.submitPrompts(prompts(5, MARK));
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: scene.jobStatus, counts: { completed: 2, [scene.others]: 3 } });
    expect(job.cost.settled).toBe('0.00021');
    expect((await caller.budget()).settled).toBe('0.00021');
    expect(withStatus(rows, 'completed').map((row) => row.cost)).toEqual(['0.000105', '0.000105']);
    expect(withStatus(rows, scene.others).map((row) => row.cost)).toEqual(['0.00', '0.00', '0.00']);
    expect(await batchesOf(gateway, jobId)).toHaveLength(1);
  },
);

test('M-09: cost is booked to key, customer, project, tenant and job alike, though the key is revoked in between', async () => {
  const { caller, tenantId } = await gateway.newTenant();
  const { pool } = gateway.database.db;
  await pool.query(`INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'cust_1', 'One')`, [tenantId]);
  await pool.query(`INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'proj_1', 'One')`, [tenantId]);
  const { key, keyId } = await createKey(pool, { role: 'customer', name: 'K', tenantId, customerId: 'cust_1' });
  const customer = new Caller(gateway.url, key);
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'in_progress', finished: 1 } }));
  const jobId = await customer.submitPrompts(prompts(4, MARK), { project_id: 'proj_1' });
  await pool.query('UPDATE api_keys SET revoked_at = now() WHERE key_id = $1', [keyId]);
  expect((await customer.fetch(`/v1/batch-jobs/${jobId}`)).status).toBe(401);
  const batch = await batchOf(gateway, jobId);
  await gateway.simulator.batch(batch.id, { stuck: null });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', cost: { settled: '0.00042' } });
  for (const [group, id] of [
    ['api_key', keyId],
    ['customer', 'cust_1'],
    ['project', 'proj_1'],
    ['tenant', tenantId],
  ]) {
    const path = `/v1/usage?group_by=${group}`;
    const { data } = await caller.call<{ data: { group: object; cost: string; items: number }[] }>('GET', path);
    expect(data).toMatchObject([{ group: { [`${group}`]: id }, cost: '0.00042', items: 4 }]);
  }
  const { data } = await caller.call<{ data: unknown[] }>('GET', `/v1/batch-jobs/${jobId}/usage`);
  expect(data).toMatchObject([
    { job_id: jobId, api_key_id: keyId, customer_id: 'cust_1', project_id: 'proj_1', cost: '0.00042' },
  ]);
});

test('B-02: steps that are run again after their commit, and beside each other, release and charge once', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('files.content', { stall: { after_bytes: 300, ms: 3_600_000 } }));
  const jobId = await caller.submitPrompts(prompts(30, MARK));
  await eventually(async () =>
    (await gateway.simulator.journal({ route: 'files.content' })).some((entry) => entry.ended_at === null),
  );
  const again = secondWorker();
  const attempt = { jobId, shard: 1, attempt: 1 };
  await runActivity(again.ingestAttempt, attempt);
  expect(await caller.job(jobId)).toMatchObject({ counts: { completed: 30 }, cost: { settled: '0.00315' } });
  await gateway.simulator.advance(3_600_000);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', cost: { settled: '0.00315' } });
  const ledger = await wholeLedger(caller, jobId);
  await runActivity(again.ingestAttempt, { ...attempt, reading: 2 });
  await Promise.all([
    runActivity(again.reconcileJob, { jobId }),
    runActivity(again.reconcileJob, { jobId }),
    runActivity(again.planShards, { jobId }),
    runActivity(again.admitJob, { jobId, submissionNo: 1 }),
  ]);
  expect(await caller.job(jobId)).toEqual(job);
  expect(await wholeLedger(caller, jobId)).toEqual(ledger);
  await gateway.expectSound(jobId);
});
