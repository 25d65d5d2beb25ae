import { expect, test } from 'vitest';
import { batchJobWorkflowId, providerBatchWorkflowId } from '../../workflows/ids.ts';
import { type BatchJobInput, batchJobStateQuery, pollNowSignal, shardChangedSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeJob } from './fake-job.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;
/** Several workflow tasks on a busy machine. */
const PATIENT = { timeoutMs: 30_000 };

function shardHandle(job: FakeJob, shard: number) {
  return engine().client.workflow.getHandle(providerBatchWorkflowId(job.jobId, shard));
}

/** A job whose shards wait at the provider until `batchesOpen` is taken back and someone polls. */
async function startWaiting(job: FakeJob, input: Partial<BatchJobInput> = {}) {
  job.batchesOpen = true;
  const handle = await engine().startJob(job, input);
  await eventually(() => job.shards.every((shard) => shard.state === 'running'), PATIENT);
  return handle;
}

test.concurrent('a job admits, plans, runs its shards and reconciles, in that order', async () => {
  const job = engine().addJob();
  expect(await (await engine().startJob(job)).result()).toEqual({ state: 'completed' });
  const own = ['admitJob', 'planShards', 'readShards', 'reconcileJob'];
  const order = job.calls.map(({ name }) => name).filter((name) => own.includes(name));
  expect([...new Set(order)]).toEqual(own);
  expect(order.lastIndexOf('readShards')).toBeLessThan(order.indexOf('reconcileJob'));
});

test.concurrent('no more shards are at work at once than the window has room for, and all get their turn', async () => {
  const job = engine().addJob({ shards: 7, window: 2 });
  let most = 0;
  const submit = job.hold('submitAttempt');
  const handle = await engine().startJob(job);
  await eventually(() => job.called('submitAttempt').length === 2);
  submit.release();
  const watch = setInterval(() => {
    const working = job.shards.filter(({ state }) => state !== 'planned' && state !== 'settled').length;
    most = Math.max(most, working);
  }, 1);
  expect(await handle.result()).toEqual({ state: 'completed' });
  clearInterval(watch);
  expect(most).toBeLessThanOrEqual(2);
  expect(job.called('submitAttempt').map(({ shard }) => shard)).toHaveLength(7);
});

test.concurrent('a shard that already runs is taken as it is', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  job.batchesOpen = true;
  const shard = await engine().startShard(job);
  await eventually(() => job.shard(1).state === 'running');
  const handle = await engine().startJob(job);
  await eventually(() => job.called('readShards').length >= 1);
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  expect(await handle.result()).toEqual({ state: 'completed' });
  expect((await shardHandle(job, 1).describe()).runId).toBe(shard.firstExecutionRunId);
  expect(job.called('submitAttempt')).toHaveLength(1);
});

test.concurrent('a shard whose workflow was terminated is started again by the next look', async () => {
  const job = engine().addJob({ shards: 2, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job, { lookAgainMs: 300 });
  const steps = job.called('nextStep').length;
  await shardHandle(job, 2).terminate();
  await eventually(() => job.called('nextStep').length > steps);
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  expect(await handle.result()).toEqual({ state: 'completed' });
  expect(job.called('submitAttempt')).toHaveLength(2);
});

test.concurrent('signals of the other shards do not put off the look that finds a terminated one', async () => {
  const job = engine().addJob({ shards: 2, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job, { lookAgainMs: 2_000, maxHistoryEvents: 10_000 });
  const steps = job.called('nextStep').length;
  await shardHandle(job, 2).terminate();
  let looks = 0;
  await eventually(async () => {
    if (job.called('nextStep').length > steps) return true;
    looks += 1;
    await handle.signal(shardChangedSignal);
    return false;
  });
  expect(looks).toBeGreaterThan(3);
  await handle.terminate();
});

test.concurrent('poll now starts a shard whose workflow was terminated, without waiting for the next look', async () => {
  const job = engine().addJob({ shards: 2, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job);
  await shardHandle(job, 2).terminate();
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  expect(await handle.result()).toEqual({ state: 'completed' });
});

test.concurrent('poll now reaches every open shard', async () => {
  const job = engine().addJob({ shards: 3, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job);
  await eventually(() => job.called('pollAttempt').length === 3);
  await handle.signal(pollNowSignal);
  await eventually(() => job.called('pollAttempt').length === 6);
  expect(
    job
      .called('pollAttempt')
      .map(({ shard }) => shard)
      .toSorted(),
  ).toEqual([1, 1, 2, 2, 3, 3]);
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  expect(await handle.result()).toEqual({ state: 'completed' });
});

test.concurrent('a shard that changed wakes the job at once', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job);
  await eventually(async () => (await handle.query(batchJobStateQuery)).stage === 'running');
  const looks = job.called('readShards').length;
  await handle.signal(shardChangedSignal);
  await eventually(() => job.called('readShards').length > looks);
  await handle.terminate();
});

test.concurrent('the state query tells the stage, the public status and where the shards stand', async () => {
  const job = engine().addJob({ shards: 3, window: 1, pollDelayMs: MINUTE_MS });
  const admission = job.hold('admitJob');
  job.batchesOpen = true;
  const handle = await engine().startJob(job);
  const start = { v: 1, jobId: job.jobId, cancelRequested: false };
  expect(await handle.query(batchJobStateQuery)).toEqual({
    ...start,
    stage: 'admitting',
    status: 'validating',
    shards: { total: 0, open: 0, settled: 0 },
  });
  admission.release();
  await eventually(() => job.shard(1).state === 'running');
  await eventually(async () => (await handle.query(batchJobStateQuery)).status === 'running');
  expect(await handle.query(batchJobStateQuery)).toEqual({
    ...start,
    stage: 'running',
    status: 'running',
    shards: { total: 3, open: 3, settled: 0 },
  });
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  await handle.result();
  expect(await handle.query(batchJobStateQuery)).toEqual({
    ...start,
    stage: 'ended',
    status: 'completed',
    shards: { total: 3, open: 0, settled: 3 },
  });
});

test.concurrent('a terminated job strands no batch, and a new run of it finishes', async () => {
  const job = engine().addJob({ shards: 2, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job);
  await handle.terminate('an operator');
  for (const shard of [1, 2]) {
    expect((await shardHandle(job, shard).describe()).status.name).toBe('RUNNING');
  }
  job.batchesOpen = false;
  await shardHandle(job, 1).signal(pollNowSignal);
  await shardHandle(job, 1).result();
  const recovered = await engine().startJob(job, { recover: true });
  await eventually(() => job.called('readShards').length > 0);
  await recovered.signal(pollNowSignal);
  expect(await recovered.result()).toEqual({ state: 'completed' });
  expect(job.called('submitAttempt')).toHaveLength(2);
  expect(recovered.workflowId).toBe(batchJobWorkflowId(job.jobId));
});

test.concurrent('a shard that is split is followed by its halves', async () => {
  const job = engine().addJob({ submit: [{ kind: 'split' }] });
  expect(await (await engine().startJob(job)).result()).toEqual({ state: 'completed' });
  expect(job.shards.map(({ state }) => state)).toEqual(['superseded', 'settled', 'settled']);
  expect(
    job
      .called('submitAttempt')
      .map(({ shard }) => shard)
      .toSorted(),
  ).toEqual([1, 2, 3]);
});
