import { expect, test } from 'vitest';
import { cancelSignal, pollNowSignal } from '../../workflows/messages.ts';
import { eventually } from '../harness/eventually.ts';
import { type Event, payloadBytes, readEvents, readRuns } from '../workflows/read-history.ts';
import { useFakeEngine } from '../workflows/use-fake-engine.ts';

const engine = useFakeEngine();

/** Temporal warns at 10,240 events; a run this short can be read by a person. */
const MAX_EVENTS = 500;
const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
/** What the built-in pace comes to, see domain/poll-schedule.test.ts; a short run stops early in the day, past one run. */
const POLLS_A_DAY = isShort ? 70 : 300;
const MAX_MESSAGE_BYTES = 1_024;
/** What an activity answers may list up to 50 shards. */
const MAX_PAYLOAD_BYTES = 4_096;

function longest(runs: readonly Event[][]): number {
  return Math.max(...runs.map((events) => events.length));
}

/** The first run of the shard that the job started. */
function startedShard(events: readonly Event[]): { workflowId: string; runId: string } {
  const started = events.find((event) => event.childWorkflowExecutionStartedEventAttributes);
  const { workflowId, runId } = started?.childWorkflowExecutionStartedEventAttributes?.workflowExecution ?? {};
  return { workflowId: workflowId ?? '', runId: runId ?? '' };
}

function messagesOf(events: readonly Event[]): Event[] {
  return events.filter(
    (event) =>
      event.workflowExecutionStartedEventAttributes ??
      event.workflowExecutionCompletedEventAttributes ??
      event.workflowExecutionContinuedAsNewEventAttributes ??
      event.workflowExecutionSignaledEventAttributes ??
      event.startChildWorkflowExecutionInitiatedEventAttributes,
  );
}

test.concurrent('X-02: a day of polls, and of looks at the shard, makes no run of 500 events, of the job or of its shard', async () => {
  const job = engine().addJob({ poll: Array(POLLS_A_DAY).fill({}), pollDelayMs: 1 });
  const handle = await engine().startJob(job, { lookAgainMs: 150 });
  expect(await handle.result()).toEqual({ state: 'completed' });
  expect(job.called('pollAttempt')).toHaveLength(POLLS_A_DAY + 1);
  const shard = startedShard(await readEvents(engine().client, handle.workflowId, handle.firstExecutionRunId));
  const [ofJob, ofShard] = await Promise.all([
    readRuns(engine().client, handle.workflowId, handle.firstExecutionRunId),
    readRuns(engine().client, shard.workflowId, shard.runId),
  ]);
  expect(longest(ofJob)).toBeLessThan(MAX_EVENTS);
  expect(longest(ofShard)).toBeLessThan(MAX_EVENTS);
  // Not because there was little to write down.
  expect(ofShard.flat().length).toBeGreaterThan(POLLS_A_DAY * 9);
  expect(ofShard.length).toBeGreaterThan(1);
  if (!isShort) expect(ofJob.length).toBeGreaterThan(1);
});

test.concurrent('X-02: a job of many shards that is cancelled half way makes no run of 500 events', async () => {
  const job = engine().addJob({ shards: 20, window: 8, pollDelayMs: 60_000 });
  job.batchesOpen = true;
  const handle = await engine().startJob(job);
  await eventually(() => job.called('pollAttempt').length === 8);
  await handle.signal(pollNowSignal);
  await eventually(() => job.called('pollAttempt').length === 16);
  await handle.signal(cancelSignal);
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.called('submitAttempt')).toHaveLength(8);
  const runs = await readRuns(engine().client, handle.workflowId, handle.firstExecutionRunId);
  expect(longest(runs)).toBeLessThan(MAX_EVENTS);
});

test.concurrent('no message of a job is large, however many shards it has and whatever a person sends it', async () => {
  const job = engine().addJob({ shards: 200, window: 1, pollDelayMs: 60_000 });
  job.batchesOpen = true;
  const handle = await engine().startJob(job);
  await eventually(() => job.shard(1).state === 'running');
  await handle.signal(cancelSignal, { by: 'x'.repeat(5_000), reason: 'y'.repeat(5_000) });
  await eventually(() => job.cancel !== null);
  await handle.terminate();
  const own = (await readEvents(engine().client, handle.workflowId)).filter(
    (event) => event.workflowExecutionSignaledEventAttributes?.signalName !== 'cancel',
  );
  expect(Math.max(...payloadBytes(messagesOf(own)))).toBeLessThan(MAX_MESSAGE_BYTES);
  expect(Math.max(...payloadBytes(own))).toBeLessThan(MAX_PAYLOAD_BYTES);
  expect(own.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name)).toContain('recordCancel');
});
