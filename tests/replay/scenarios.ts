import type { SubmitResult } from '../../activities/interfaces.ts';
import type { batchJob } from '../../workflows/batch-job.ts';
import { providerBatchWorkflowId } from '../../workflows/ids.ts';
import { type CancelRequest, cancelSignal, pollNowSignal, shardChangedSignal } from '../../workflows/messages.ts';
import { WORKFLOW_QUEUE } from '../../workflows/task-queues.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeEngine } from '../workflows/fake-engine.ts';
import type { FakeJob, JobScript } from '../workflows/fake-job.ts';

/** A course of events worth remembering: it plays on an engine, and ends with every workflow it started closed. */
export interface Scenario {
  readonly name: string;
  /** Ids of the workflows whose histories are kept. */
  play(engine: FakeEngine): Promise<readonly string[]>;
}

const MINUTE_MS = 60_000;
const CAPACITY: SubmitResult = { kind: 'wait', reason: 'provider_capacity', delayMs: MINUTE_MS, giveUp: null };
const UNANSWERED: SubmitResult = { kind: 'unknown', lookAfterMs: 20 };

type Handle = Awaited<ReturnType<FakeEngine['startJob']>>;

function workflowsOf(job: FakeJob, handle: Handle): string[] {
  const begun = job.shards.filter(({ state }) => state !== 'planned');
  return [handle.workflowId, ...begun.map(({ shard }) => providerBatchWorkflowId(job.jobId, shard))];
}

interface Course {
  readonly job: FakeJob;
  readonly handle: Handle;
  readonly engine: FakeEngine;
  /** Lets the held activity go on. */
  readonly release: () => void;
}

/** A job that plays by itself, but for what `meanwhile` does once it has begun. */
function jobScenario(
  name: string,
  script: JobScript,
  meanwhile: (course: Course) => Promise<unknown> = async () => undefined,
  { open = false, maxHistoryEvents = 400, held = 'none' } = {},
): Scenario {
  return {
    name,
    play: async (engine) => {
      const job = engine.addJob(script, `job_${name}`);
      job.batchesOpen = open;
      const { release } = job.hold(held);
      const handle = await engine.startJob(job, { maxHistoryEvents });
      await meanwhile({ job, handle, engine, release });
      await engine.client.workflow.result(handle.workflowId);
      return workflowsOf(job, handle);
    },
  };
}

const untilRunning = (job: FakeJob) => eventually(() => job.shards.every(({ state }) => state === 'running'));

/** Lets the open batches end, and has someone look. */
async function finish(job: FakeJob, handle: Handle, engine: FakeEngine): Promise<void> {
  job.batchesOpen = false;
  await engine.client.workflow.getHandle(handle.workflowId).signal(pollNowSignal);
}

const JOBS: readonly Scenario[] = [
  jobScenario('happy-path', { poll: [{ nativeStatus: 'validating' }, { nativeStatus: 'in_progress' }] }),
  jobScenario('several-shards', { shards: 3, window: 2 }),
  jobScenario('refused', { verdicts: ['refused'] }),
  jobScenario(
    'submitted-again-while-refused',
    { verdicts: ['refused'] },
    async ({ job, handle, release }) => {
      await eventually(() => job.called('admitJob').length === 1);
      const second = handle.executeUpdate('admit', { args: [{ submissionNo: 2 }] });
      await eventually(async () => {
        const { events } = await handle.fetchHistory();
        return events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
      });
      release();
      await second;
    },
    { held: 'admitJob' },
  ),
  jobScenario('waited-for-capacity', { submit: [{ ...CAPACITY, delayMs: 20 }] }),
  jobScenario('split', { submit: [{ kind: 'split' }] }),
  jobScenario('rejected', { submit: [{ kind: 'close', reason: 'rejected' }] }),
  jobScenario('unanswered-create-adopted', { submit: [UNANSWERED], resolve: [{ kind: 'look_again', delayMs: 20 }] }),
  jobScenario('unanswered-create-sent-again', {
    submit: [UNANSWERED],
    resolve: [{ kind: 'no_answer', delayMs: 20 }, { kind: 'look_again', delayMs: 20 }, { kind: 'not_found' }],
  }),
  jobScenario('indeterminate', {
    submit: [UNANSWERED],
    resolve: [{ kind: 'indeterminate', candidates: 2, delayMs: 50 }],
  }),
  jobScenario('resubmitted-after-capacity', {
    poll: [{ kind: 'ended', end: 'failed', nativeStatus: 'failed' }],
    ingest: [
      { settled: 0, remaining: 10, unmatched: 0, next: 'resubmit', delayMs: 20, waiting: 'provider_capacity' },
      { settled: 5, remaining: 5, unmatched: 0, next: 'again', delayMs: 20 },
    ],
  }),
  jobScenario('lost', { poll: [{}, { kind: 'lost' }] }),
  jobScenario('cancelled-before-submit', { submit: [CAPACITY] }, async ({ job, handle }) => {
    await eventually(() => job.shard(1).state === 'waiting');
    await handle.signal(cancelSignal, { by: 'alice', reason: 'typo' });
  }),
  jobScenario(
    'cancelled-while-uploading',
    {},
    async ({ job, handle }) => {
      await eventually(() => job.called('submitAttempt').length === 1);
      await handle.signal(cancelSignal, { by: 'alice' });
    },
    { held: 'submitAttempt' },
  ),
  jobScenario(
    'cancelled-while-polling',
    { shards: 2, pollDelayMs: MINUTE_MS, cancel: [false] },
    async ({ job, handle }) => {
      await untilRunning(job);
      await handle.signal(cancelSignal, { by: 'alice' });
    },
    { open: true },
  ),
  jobScenario(
    'cancelled-by-temporal',
    { pollDelayMs: MINUTE_MS },
    async ({ job, handle }) => {
      await untilRunning(job);
      await handle.cancel();
    },
    { open: true },
  ),
  jobScenario(
    'recovered',
    { shards: 2, pollDelayMs: MINUTE_MS },
    async ({ job, handle, engine }) => {
      await untilRunning(job);
      await handle.terminate('by an operator');
      await engine.startJob(job, { recover: true });
      await finish(job, handle, engine);
    },
    { open: true },
  ),
  jobScenario(
    'shard-terminated',
    { shards: 2, pollDelayMs: MINUTE_MS },
    async ({ job, handle, engine }) => {
      await untilRunning(job);
      await engine.client.workflow.getHandle(providerBatchWorkflowId(job.jobId, 2)).terminate('by an operator');
      await finish(job, handle, engine);
    },
    { open: true },
  ),
  jobScenario(
    'continued-as-new',
    { pollDelayMs: 20 },
    async ({ job, handle, engine }) => {
      const current = engine.client.workflow.getHandle(handle.workflowId);
      while (job.called('admitJob').length < 3) {
        const looks = job.called('readShards').length;
        await current.signal(shardChangedSignal);
        await eventually(() => job.called('readShards').length > looks);
      }
      await current.signal(cancelSignal, { by: 'alice' });
    },
    { open: true, maxHistoryEvents: 40 },
  ),
];

const OTHERS: readonly Scenario[] = [
  {
    name: 'cancelled-with-the-start',
    play: async (engine) => {
      const job = engine.addJob({}, 'job_cancelled-with-the-start');
      const handle = await engine.client.workflow.signalWithStart<typeof batchJob, [CancelRequest?]>('batchJob', {
        ...engine.jobStart(job),
        signal: cancelSignal,
        signalArgs: [{ by: 'alice' }],
      });
      await handle.result();
      return [handle.workflowId];
    },
  },
  ...['reconcile', 'retention'].map((name) => ({
    name,
    play: async (engine: FakeEngine) => {
      await engine.client.workflow.execute(name, { workflowId: name, taskQueue: WORKFLOW_QUEUE, args: [] });
      return [name];
    },
  })),
];

export const SCENARIOS: readonly Scenario[] = [...JOBS, ...OTHERS];
