import { expect, test } from 'vitest';
import { cancelSignal, pollNowSignal, shardChangedSignal } from '../../workflows/messages.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeJob } from './fake-job.ts';
import { readCurrentDetails, readEvents, readRuns } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

const MINUTE_MS = 60_000;
/** Several workflow tasks on a busy machine. */
const PATIENT = { timeoutMs: 30_000 };

/** So short that each time the job is woken it continues as a new run. */
const EVERY_LOOK = 1;

async function startWaiting(job: FakeJob, maxHistoryEvents: number) {
  job.batchesOpen = true;
  const handle = await engine().startJob(job, { maxHistoryEvents: 1_000_000 });
  await eventually(() => job.shards.every((shard) => shard.state === 'running'), PATIENT);
  await handle.terminate();
  // Shards go on alone, so that only the job's own history is short.
  const recovered = await engine().startJob(job, { maxHistoryEvents });
  await eventually(async () => {
    const events = await readEvents(engine().client, recovered.workflowId, recovered.firstExecutionRunId);
    return events.some((event) => event.timerStartedEventAttributes);
  });
  return recovered;
}

test.concurrent('of many signals over many runs none is lost, and every run shows whose job it is', async () => {
  const job = engine().addJob({ shards: 2, pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job, 40);
  const current = engine().client.workflow.getHandle(handle.workflowId);
  for (let burst = 0; burst < 12; burst += 1) {
    const looks = job.called('readShards').length;
    await Promise.all(Array.from({ length: 5 }, () => current.signal(shardChangedSignal)));
    await eventually(() => job.called('readShards').length > looks);
  }
  expect(await readCurrentDetails(current)).toMatch(/\| tenant \| acme \|[\s\S]*\| model \| analysis \|/);
  const { typedSearchAttributes } = await current.describe();
  expect(typedSearchAttributes.get(searchAttributes.tenant)).toBe('acme');
  job.batchesOpen = false;
  await current.signal(pollNowSignal);
  expect(await handle.result()).toEqual({ state: 'completed' });
  const runs = await readRuns(engine().client, handle.workflowId, handle.firstExecutionRunId);
  expect(runs.length).toBeGreaterThan(3);
  const signals = runs
    .flat()
    .filter((event) => event.workflowExecutionSignaledEventAttributes?.signalName === 'shardChanged');
  expect(signals.length).toBeGreaterThanOrEqual(60);
  expect(Math.max(...runs.map((events) => events.length))).toBeLessThan(100);
});

test.concurrent('a cancel heard by a run that has no turn left is recorded by the next', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job, EVERY_LOOK);
  await handle.signal(cancelSignal, { by: 'alice', reason: 'typo' });
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('recordCancel')).toEqual([{ jobId: job.jobId, by: 'alice', reason: 'typo' }]);
});

test.concurrent("Temporal's own cancel of a run that has no turn left is recorded by the next", async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job, EVERY_LOOK);
  await handle.cancel();
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('recordCancel').map(({ by }) => by)).toEqual(['temporal']);
});

test.concurrent('a poll asked for in a run that has no turn left is passed on by the next', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const handle = await startWaiting(job, EVERY_LOOK);
  job.batchesOpen = false;
  await handle.signal(pollNowSignal);
  expect(await handle.result()).toEqual({ state: 'completed' });
});

test.concurrent('a later run answers the update as the first one did', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  const first = await startWaiting(job, EVERY_LOOK);
  await first.signal(shardChangedSignal);
  const handle = engine().client.workflow.getHandle(first.workflowId);
  await eventually(async () => (await handle.describe()).runId !== first.firstExecutionRunId);
  expect(await handle.executeUpdate('admit', { args: [{ submissionNo: 1 }] })).toEqual({ verdict: 'accepted' });
  await handle.terminate();
});

test.concurrent('an update that is pending when the run continues as a new one is answered', async () => {
  const job = engine().addJob({ pollDelayMs: MINUTE_MS });
  job.batchesOpen = true;
  const judging = job.hold('admitJob');
  const handle = await engine().startJob(job, { maxHistoryEvents: EVERY_LOOK });
  const answers = [1, 2, 3].map((n) => handle.executeUpdate('admit', { updateId: `admit-1-${n}` }));
  await eventually(() => job.called('admitJob').length === 1);
  for (let signal = 0; signal < 5; signal += 1) await handle.signal(shardChangedSignal);
  judging.release();
  expect(await Promise.all(answers)).toEqual(Array(3).fill({ verdict: 'accepted' }));
  job.batchesOpen = false;
  await engine().client.workflow.getHandle(handle.workflowId).signal(pollNowSignal);
  expect(await handle.result()).toEqual({ state: 'completed' });
});
