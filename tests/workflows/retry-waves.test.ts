import { expect, test } from 'vitest';
import { batchJobStateQuery, cancelSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeJob } from './fake-job.ts';
import { readEvents, summaryOf } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const HOUR_MS = 3_600_000;
/** Several workflow tasks on a busy machine. */
const PATIENT = { timeoutMs: 30_000 };

/** A job that waits for a far wave. */
async function startWaiting(job: FakeJob) {
  const handle = await engine().startJob(job);
  await eventually(async () => (await handle.query(batchJobStateQuery)).stage === 'retrying', PATIENT);
  return handle;
}

async function timersOf(workflowId: string) {
  const events = await readEvents(engine().client, workflowId);
  return events.filter((event) => event.timerStartedEventAttributes).map(summaryOf);
}

test.concurrent('a job without a retry policy asks for no waves', async () => {
  const job = engine().addJob();
  await (await engine().startJob(job)).result();
  expect(job.called('planWave')).toEqual([]);
  expect(job.called('reconcileJob')).toHaveLength(1);
});

test.concurrent('waves are run one after the other between the shards and the end, each after its wait', async () => {
  const job = engine().addJob({
    waves: [
      { items: 17, delayMs: 20 },
      { items: 3, delayMs: 0 },
    ],
  });
  const handle = await engine().startJob(job);
  expect(await handle.result()).toEqual({ state: 'completed' });
  expect(job.called('startWave').map(({ wave }) => wave)).toEqual([2, 3]);
  expect(job.called('planWave')).toHaveLength(3);
  expect(job.shards.map(({ closed }) => closed)).toEqual(['batch_completed', 'batch_completed', 'batch_completed']);
  const order = job.calls.map(({ name }) => name);
  expect(order.lastIndexOf('closeShard')).toBeLessThan(order.lastIndexOf('planWave'));
  expect(order.indexOf('reconcileJob')).toBe(order.length - 1);
  expect(await timersOf(handle.workflowId)).toContain('wave 2: 17 items again');
});

test.concurrent('while a wave waits the job is running', async () => {
  const job = engine().addJob({ waves: [{ items: 17, delayMs: HOUR_MS }] });
  const handle = await startWaiting(job);
  expect(await handle.query(batchJobStateQuery)).toMatchObject({ stage: 'retrying', status: 'running' });
  await handle.signal(cancelSignal);
  await handle.result();
});

test.concurrent.each([
  [
    'the signal',
    (handle: Awaited<ReturnType<typeof startWaiting>>) => handle.signal(cancelSignal, { by: 'alice' }),
    'alice',
  ],
  ['Temporal’s own', (handle: Awaited<ReturnType<typeof startWaiting>>) => handle.cancel(), 'temporal'],
])('a cancel during the wait, by %s, ends it and nothing is sent again', async (_how, cancel, by) => {
  const job = engine().addJob({ waves: [{ items: 17, delayMs: HOUR_MS }] });
  const handle = await startWaiting(job);
  await cancel(handle);
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('recordCancel').map((call) => call['by'])).toEqual([by]);
  expect(job.shards).toHaveLength(1);
});

test.concurrent('a signal that is no cancel does not shorten the wait', async () => {
  const job = engine().addJob({ waves: [{ items: 17, delayMs: HOUR_MS }] });
  const handle = await startWaiting(job);
  await handle.signal('shardChanged');
  await handle.signal('pollNow');
  await eventually(async () => (await timersOf(handle.workflowId)).includes('wave 2: 17 items again'), PATIENT);
  expect(job.called('startWave')).toEqual([]);
  await handle.signal(cancelSignal);
  await handle.result();
});

test.concurrent('a wave that its hold no longer covers when its time has come is left out', async () => {
  const job = engine().addJob({ waves: [{ items: 17, delayMs: 1, starts: false }] });
  expect(await (await engine().startJob(job)).result()).toEqual({ state: 'completed' });
  expect(job.called('planWave')).toHaveLength(1);
  expect(job.called('startWave')).toHaveLength(1);
  expect(job.shards).toHaveLength(1);
});

test.concurrent('a job that was terminated during the wait takes the same wave up again', async () => {
  const job = engine().addJob({ waves: [{ items: 17, delayMs: 3_000 }] });
  const first = await startWaiting(job);
  await first.terminate();
  const second = await engine().startJob(job, { recover: true });
  expect(await second.result()).toEqual({ state: 'completed' });
  expect(job.called('startWave').map(({ wave }) => wave)).toEqual([2]);
  expect(job.shards.map(({ closed }) => closed)).toEqual(['batch_completed', 'batch_completed']);
});

test.concurrent('a cancel that comes while a wave is being made stops its shards', async () => {
  const job = engine().addJob({ waves: [{ items: 17, delayMs: 0 }], window: 1 });
  const start = job.hold('startWave', { after: true });
  const handle = await engine().startJob(job);
  await eventually(() => job.shards.length === 2, PATIENT);
  await handle.signal(cancelSignal);
  start.release();
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.shard(2).closed).toBe('cancelled');
  expect(job.called('submitAttempt')).toHaveLength(1);
});
