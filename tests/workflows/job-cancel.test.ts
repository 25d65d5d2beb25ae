import { WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { createJobWorkflowControl } from '../../worker/job-workflow-control.ts';
import { cancelSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeJob } from './fake-job.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;
/** Several workflow tasks on a busy machine. */
const PATIENT = { timeoutMs: 30_000 };

async function startWaiting(job: FakeJob) {
  job.batchesOpen = true;
  const handle = await engine().startJob(job);
  await eventually(() => job.shards.every((shard) => shard.state === 'running'), PATIENT);
  return handle;
}

const LONG_NAME = 'x'.repeat(1_000);

test.concurrent.each([
  ['who and why', [{ by: 'alice', reason: 'typo' }], { by: 'alice', reason: 'typo' }],
  ['who alone', [{ by: 'alice' }], { by: 'alice', reason: null }],
  ['no payload', [], { by: 'signal', reason: null }],
  ['null', [null], { by: 'signal', reason: null }],
  ['a word', ['stop it'], { by: 'signal', reason: null }],
  ['a list', [['alice']], { by: 'signal', reason: null }],
  ['fields of other types', [{ by: 7, reason: { deep: true } }], { by: 'signal', reason: null }],
  ['a very long name', [{ by: LONG_NAME }], { by: LONG_NAME.slice(0, 200), reason: null }],
])('a cancel signal with %s ends in a settled job and is recorded once', async (_what, args, recorded) => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job);
  await handle.signal('cancel', ...args);
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('recordCancel')).toEqual([{ jobId: job.jobId, ...recorded }]);
  expect(job.shard(1).closed).toBe('batch_cancelled');
});

test.concurrent("Temporal's own cancel ends in a settled job, as the signal does", async () => {
  const job = engine().addJob({ shards: 2, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job);
  await handle.cancel();
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('recordCancel')).toEqual([{ jobId: job.jobId, by: 'temporal', reason: 'workflow cancelled' }]);
  expect(job.shards.map(({ closed }) => closed)).toEqual(['batch_cancelled', 'batch_cancelled']);
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});

test.concurrent('of several cancels the first is recorded, once', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS, cancel: [false] });
  const handle = await startWaiting(job);
  await handle.signal(cancelSignal, { by: 'alice' });
  await handle.signal(cancelSignal, { by: 'bob' });
  await eventually(() => job.called('cancelAttempt').length === 1);
  await handle.cancel();
  await eventually(() => job.called('cancelAttempt').length === 2);
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('recordCancel').map(({ by }) => by)).toEqual(['alice']);
});

test.concurrent('a cancel that the row already shows is not recorded again, only passed on', async () => {
  const job = engine().addJob({ shards: 2, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job);
  job.cancel = { by: 'key_1', reason: null };
  await handle.signal('shardChanged');
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('recordCancel')).toEqual([]);
});

test.concurrent('shards whose turn has not come are closed without being sent', async () => {
  const job = engine().addJob({ shards: 4, window: 1, pollDelayMs: MINUTE_MS });
  job.batchesOpen = true;
  const handle = await engine().startJob(job);
  await eventually(() => job.shard(1).state === 'running');
  await handle.signal(cancelSignal);
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.shards.map(({ closed }) => closed)).toEqual(['batch_cancelled', 'cancelled', 'cancelled', 'cancelled']);
  expect(job.called('submitAttempt')).toHaveLength(1);
});

test.concurrent('a shard whose workflow was terminated is cancelled all the same', async () => {
  const job = engine().addJob({ shards: 2, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job);
  await engine().client.workflow.getHandle(`provider-batch/${job.jobId}/2`).terminate();
  await handle.signal(cancelSignal);
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('cancelAttempt')).toHaveLength(2);
});

test.concurrent('an ended job answers a cancel with "not found", and the sweep takes that for an answer', async () => {
  const job = engine().addJob();
  const handle = await engine().startJob(job);
  await handle.result();
  await expect(handle.signal(cancelSignal)).rejects.toBeInstanceOf(WorkflowNotFoundError);
  await createJobWorkflowControl(engine().client).signalCancel(job.jobId);
  expect(job.ended).toBe('completed');
});

test.concurrent('the sweep starts a job without a workflow, and leaves a running one alone', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const control = createJobWorkflowControl(engine().client);
  const open = {
    jobId: job.jobId,
    submissionNo: 1,
    tenantId: 'acme',
    customerId: null,
    model: 'analysis',
    itemCount: 10,
    submittedAt: null,
    cancelRequested: false,
  };
  job.batchesOpen = true;
  expect(await control.start(open)).toBe(true);
  expect(await control.start(open)).toBe(false);
  await eventually(() => job.shard(1).state === 'running');
  await control.signalCancel(job.jobId);
  await eventually(() => job.ended === 'cancelled');
  expect(job.called('recordCancel').map(({ by }) => by)).toEqual(['sweep']);
});
