import { expect, test } from 'vitest';
import { providerBatchStateQuery } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import { readEvents } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const PATIENT = { timeoutMs: 30_000 };

test.concurrent('a job that is held back waits on one timer, and runs when its time has come', async () => {
  const job = engine().addJob({ shards: 2 });
  job.notBeforeMs = Date.now() + 1_500;
  const handle = await engine().startJob(job);
  await eventually(() => job.called('readShards').length > 0, PATIENT);
  expect(job.called('nextStep')).toEqual([]);
  expect(await handle.result()).toEqual({ state: 'completed' });
  expect(Date.now()).toBeGreaterThanOrEqual(job.notBeforeMs);
  expect(job.shards.map(({ closed }) => closed)).toEqual(['batch_completed', 'batch_completed']);
});

test.concurrent('nothing is asked while a job is held back for days', async () => {
  const job = engine().addJob({ shards: 2 });
  job.notBeforeMs = Date.now() + 20 * DAY_MS;
  const handle = await engine().startJob(job, { lookAgainMs: 50 });
  await eventually(() => job.called('readShards').length === 1, PATIENT);
  // Another run over the same engine has done several rounds meanwhile.
  const other = engine().addJob({ shards: 2, poll: [{}, {}, {}] });
  await (await engine().startJob(other, { lookAgainMs: 50 })).result();
  expect(job.called('readShards')).toHaveLength(1);
  const timers = (await readEvents(engine().client, handle.workflowId)).filter(
    (event) => event.timerStartedEventAttributes != null,
  );
  expect(timers).toHaveLength(1);
  await handle.signal('cancel');
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.shards.map(({ closed }) => closed)).toEqual(['cancelled', 'cancelled']);
  expect(job.called('submitAttempt')).toEqual([]);
});

test.concurrent('a shard that is started too early waits by itself', async () => {
  const job = engine().addJob();
  job.notBeforeMs = Date.now() + 1_000;
  await (await engine().startShard(job)).result();
  expect(Date.now()).toBeGreaterThanOrEqual(job.notBeforeMs);
  expect(job.shard(1).closed).toBe('batch_completed');
});

test.concurrent('a running batch is cancelled when the deadline passes, however far off its next poll was', async () => {
  const job = engine().addJob({ pollDelayMs: 10 * MINUTE_MS, end: 'expired' });
  job.batchesOpen = true;
  const handle = await engine().startJob(job);
  await eventually(() => job.shard(1).state === 'running', PATIENT);
  job.deadlineMs = Date.now() + 500;
  await handle.signal('pollNow');
  expect(await handle.result()).toEqual({ state: 'expired' });
  expect(job.called('cancelAttempt')).toHaveLength(1);
  expect(job.called('recordCancel')).toEqual([]);
  expect(job.shard(1).closed).toBe('deadline');
});

test.concurrent('a deadline is no cancel in what a shard says of itself', async () => {
  const job = engine().addJob({ pollDelayMs: 10 * MINUTE_MS, cancel: [false] });
  job.batchesOpen = true;
  job.deadlineMs = Date.now();
  job.shard(1).attempt = 1;
  job.shard(1).accept();
  const handle = await engine().startShard(job);
  await eventually(() => job.called('cancelAttempt').length === 1, PATIENT);
  expect(await handle.query(providerBatchStateQuery)).toMatchObject({ cancelRequested: false, deadlinePassed: true });
  job.batchesOpen = false;
  await handle.signal('pollNow');
  await handle.result();
});

test.concurrent('a shard that waits for capacity is closed when the deadline passes', async () => {
  const wait = { kind: 'wait', reason: 'provider_capacity', delayMs: 1_000, giveUp: null } as const;
  const job = engine().addJob({ submit: [wait, wait, wait, wait, wait], end: 'expired' });
  job.deadlineMs = Date.now() + 1_500;
  const handle = await engine().startJob(job);
  expect(await handle.result()).toEqual({ state: 'expired' });
  expect(job.shard(1).closed).toBe('deadline');
  expect(job.called('cancelAttempt')).toEqual([]);
});
