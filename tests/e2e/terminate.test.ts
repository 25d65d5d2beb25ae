import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createMaintenanceActivities } from '../../activities/maintenance.ts';
import { createJobWorkflowControl } from '../../worker/job-workflow-control.ts';
import { batchJobWorkflowId, providerBatchWorkflowId } from '../../workflows/ids.ts';
import { runActivity, testDependencies } from '../harness/activities.ts';
import { eventually } from '../harness/eventually.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { batchesOf, batchOf, prompts } from '../harness/provider-side.ts';
import { soundEnd, submitHalfDone } from '../harness/sound-end.ts';

const A_MINUTE_MS = 60_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

/** The reconcile sweep, as it runs a minute from now: younger submissions are still being handed over. */
async function sweep(): Promise<{ started: number; signalled: number; failed: number }> {
  const { recoverJobs } = createMaintenanceActivities(
    testDependencies(gateway.database.db, {
      workflows: createJobWorkflowControl(gateway.client),
      now: () => new Date(Date.now() + A_MINUTE_MS),
    }),
  );
  return runActivity(recoverJobs, undefined);
}

async function terminate(workflowId: string): Promise<void> {
  const handle = gateway.client.workflow.getHandle(workflowId);
  await handle.terminate('by hand');
  await eventually(async () => (await handle.describe()).status.name === 'TERMINATED');
}

async function letGo(jobId: string): Promise<void> {
  for (const { id } of await batchesOf(gateway, jobId)) await gateway.simulator.batch(id, { stuck: null });
}

test('a terminated job is taken up again by the sweep and completes, its batch not made twice', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 5, finished: 2 });
  await terminate(batchJobWorkflowId(jobId));
  expect(await caller.job(jobId)).toMatchObject({ status: 'running', cancel: null });
  expect((await sweep()).started).toBe(1);
  await letGo(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 5 }, cancel: null });
  expect(await batchesOf(gateway, jobId)).toHaveLength(1);
});

test('a job terminated with all its shards goes on where it stood', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 5, finished: 2 });
  await terminate(batchJobWorkflowId(jobId));
  await terminate(providerBatchWorkflowId(jobId, 1));
  await letGo(jobId);
  await batchOf(gateway, jobId, (batch) => batch.status === 'completed');
  expect(await caller.job(jobId)).toMatchObject({ status: 'running' });
  expect((await sweep()).started).toBe(1);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 5 } });
  expect(await batchesOf(gateway, jobId)).toHaveLength(1);
});

test('a shard that was terminated is started again when an operator asks for a poll', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 5, finished: 2 });
  await terminate(providerBatchWorkflowId(jobId, 1));
  await letGo(jobId);
  await gateway.operator.call('POST', `/v1/operator/jobs/${jobId}/poll-now`);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 5 } });
});

test('a terminated job whose cancel had been asked for ends cancelled', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 5, finished: 2 });
  await terminate(batchJobWorkflowId(jobId));
  await terminate(providerBatchWorkflowId(jobId, 1));
  await caller.cancel(jobId);
  expect(await caller.job(jobId)).toMatchObject({ status: 'cancel_requested' });
  expect((await sweep()).started).toBe(1);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'cancelled', counts: { completed: 2, cancelled: 3 } });
});

test('sweeps over healthy, ended and draft jobs start nothing, also two at once', async () => {
  const { caller } = await gateway.newTenant();
  await caller.createJob();
  const ended = await caller.submitPrompts(prompts(2));
  await soundEnd(gateway, caller, ended);
  const running = await submitHalfDone(gateway, caller, { total: 3, finished: 1 });
  expect(await Promise.all([sweep(), sweep()])).toEqual([
    { started: 0, signalled: 0, failed: 0 },
    { started: 0, signalled: 0, failed: 0 },
  ]);
  await terminate(batchJobWorkflowId(running));
  const swept = await Promise.all([sweep(), sweep()]);
  expect(swept.map(({ started }) => started).toSorted()).toEqual([0, 1]);
  await letGo(running);
  await soundEnd(gateway, caller, running);
});
