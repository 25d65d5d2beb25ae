import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { DeliveryStep, SubmitResult, TaskStep } from '../../activities/interfaces.ts';
import { CLOSE_REASONS, type CloseReason } from '../../domain/close-reason.ts';
import type { batchJob } from '../../workflows/batch-job.ts';
import { providerBatchWorkflowId, scheduledJobWorkflowId } from '../../workflows/ids.ts';
import {
  type CancelRequest,
  cancelSignal,
  deliverNowSignal,
  pollNowSignal,
  rowsChangedSignal,
  shardChangedSignal,
  taskChangedSignal,
} from '../../workflows/messages.ts';
import { asyncTaskStart, webhookDeliveryStart } from '../../workflows/start-options.ts';
import { WORKFLOW_QUEUE } from '../../workflows/task-queues.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeEngine } from '../workflows/fake-engine.ts';
import type { FakeJob, JobScript } from '../workflows/fake-job.ts';
import { GO_ON, over, type ScheduleScript } from '../workflows/fake-schedules.ts';
import { TASK_FAILED, taskAgain } from '../workflows/fake-tasks.ts';
import { ABANDONED, again, DELIVERED } from '../workflows/fake-webhooks.ts';
import { DOCUMENT_SCENARIOS } from './document-scenarios.ts';
import type { Scenario } from './scenario.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const CAPACITY: SubmitResult = { kind: 'wait', reason: 'provider_capacity', delayMs: MINUTE_MS, giveUp: null };
const UNANSWERED: SubmitResult = { kind: 'unknown', lookAfterMs: 20 };
const GIVE_UPS = ['capacity_exhausted', 'credential_refused', 'account_exhausted', 'attempts_exhausted'] as const;

/** Reasons that scenarios of their own come to. */
const CLOSED_ELSEWHERE: readonly CloseReason[] = [
  ...GIVE_UPS,
  'cancelled',
  'rejected',
  'lost',
  'batch_completed',
  'batch_failed',
  'batch_expired',
  'batch_cancelled',
  'deadline',
  'given_up',
];

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

/** A cancel that comes while an activity is at work which it does not stop; what was read before it no longer holds. */
function cancelledDuring(activity: string, name: string, script: JobScript = {}): Scenario {
  return jobScenario(
    name,
    script,
    async ({ job, handle, release }) => {
      await eventually(() => job.called(activity).length === 1);
      await handle.signal(cancelSignal, { by: 'alice' });
      // A job that is itself waiting for the activity hears of it afterwards.
      if (job.called('readShards').length > 0) await eventually(() => job.cancel !== null);
      release();
    },
    { held: activity },
  );
}

const JOBS: readonly Scenario[] = [
  jobScenario('happy-path', { poll: [{ nativeStatus: 'validating' }, { nativeStatus: 'in_progress' }] }),
  jobScenario('several-shards', { shards: 3, window: 2 }),
  jobScenario('completed-with-errors', { end: 'completed_with_errors' }),
  jobScenario('expired', {
    poll: [{ kind: 'ended', end: 'expired', nativeStatus: 'expired' }],
    ingest: [{ settled: 4, remaining: 6, unmatched: 0, next: 'close', reason: 'batch_expired' }],
    end: 'expired',
  }),
  jobScenario('failed', {
    poll: [{ kind: 'ended', end: 'failed', nativeStatus: 'failed' }],
    ingest: [{ settled: 0, remaining: 10, unmatched: 0, next: 'close', reason: 'batch_failed' }],
    end: 'failed',
  }),
  jobScenario('refused', { verdicts: ['refused'] }),
  jobScenario('retried-in-waves', {
    waves: [
      { items: 7, delayMs: 20 },
      { items: 2, delayMs: 0 },
    ],
  }),
  jobScenario('cancelled-before-a-wave', { waves: [{ items: 7, delayMs: MINUTE_MS }] }, async ({ job, handle }) => {
    await eventually(() => job.called('planWave').length === 1);
    await handle.signal(cancelSignal);
  }),
  jobScenario('stale', { verdicts: ['stale'] }),
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
  ...GIVE_UPS.map((giveUp) =>
    jobScenario(`gave-up-${giveUp.replaceAll('_', '-')}`, {
      submit: [
        { ...CAPACITY, delayMs: 20 },
        { ...CAPACITY, giveUp },
      ],
      end: 'failed',
    }),
  ),
  ...CLOSE_REASONS.filter((reason) => !CLOSED_ELSEWHERE.includes(reason)).map((reason) =>
    jobScenario(`closed-as-${reason.replaceAll('_', '-')}`, { submit: [{ kind: 'close', reason }], end: 'failed' }),
  ),
  jobScenario('split', { submit: [{ kind: 'split' }] }),
  jobScenario('rejected', { submit: [{ kind: 'close', reason: 'rejected' }], end: 'failed' }),
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
  jobScenario('results-unread-for-a-while', {
    ingest: [
      { settled: 0, remaining: 10, unmatched: 0, next: 'retry', delayMs: 20, waiting: 'credential_refused' },
      { settled: 0, remaining: 10, unmatched: 0, next: 'retry', delayMs: 20, waiting: 'provider_trouble' },
    ],
  }),
  jobScenario('unanswered-create-parked-to-the-end', {
    submit: [UNANSWERED],
    resolve: [
      { kind: 'no_answer', delayMs: 20 },
      { kind: 'close', reason: 'credential_refused' },
    ],
    end: 'failed',
  }),
  jobScenario('overdue', { poll: [{ waiting: 'batch_overdue' }, { kind: 'lost', mayRun: true }], end: 'failed' }),
  jobScenario(
    'given-up-while-polling',
    { pollDelayMs: MINUTE_MS, end: 'failed' },
    async ({ job, engine }) => {
      await untilRunning(job);
      job.shard(1).givenUp = true;
      await engine.client.workflow.getHandle(providerBatchWorkflowId(job.jobId, 1)).signal(rowsChangedSignal);
    },
    { open: true },
  ),
  jobScenario(
    'given-up-while-ingesting',
    { end: 'failed' },
    async ({ job, engine }) => {
      await eventually(() => job.called('ingestAttempt').length === 1);
      job.shard(1).givenUp = true;
      await engine.client.workflow.getHandle(providerBatchWorkflowId(job.jobId, 1)).signal(rowsChangedSignal);
    },
    { held: 'ingestAttempt' },
  ),
  jobScenario('lost', { poll: [{}, { kind: 'lost' }], end: 'failed' }),
  jobScenario('cancelled-before-submit', { submit: [CAPACITY] }, async ({ job, handle }) => {
    await eventually(() => job.shard(1).state === 'waiting');
    await handle.signal(cancelSignal, { by: 'alice', reason: 'typo' });
  }),
  cancelledDuring('admitJob', 'cancelled-while-validating'),
  cancelledDuring('planShards', 'cancelled-while-planning'),
  jobScenario(
    'cancelled-while-uploading',
    {},
    async ({ job, handle }) => {
      await eventually(() => job.called('submitAttempt').length === 1);
      await handle.signal(cancelSignal, { by: 'alice' });
    },
    { held: 'submitAttempt' },
  ),
  cancelledDuring('resolveAttempt', 'cancelled-while-creating', { submit: [UNANSWERED] }),
  jobScenario(
    'cancelled-while-indeterminate',
    { submit: [UNANSWERED], resolve: [{ kind: 'indeterminate', candidates: 2, delayMs: MINUTE_MS }] },
    async ({ job, handle }) => {
      await eventually(() => job.shard(1).state === 'indeterminate');
      await handle.signal(cancelSignal, { by: 'alice' });
    },
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
    'cancelled-too-late',
    { poll: [{ nativeStatus: 'finalizing', delayMs: MINUTE_MS }], cancel: [false], end: 'completed' },
    async ({ job, handle }) => {
      await untilRunning(job);
      await handle.signal(cancelSignal, { by: 'alice' });
    },
  ),
  cancelledDuring('ingestAttempt', 'cancelled-while-ingesting', { end: 'completed' }),
  cancelledDuring('closeShard', 'cancelled-while-settling', { end: 'completed' }),
  jobScenario(
    'cancelled-before-the-next-attempt',
    {
      poll: [{ kind: 'ended', end: 'failed', nativeStatus: 'failed' }],
      ingest: [{ settled: 0, remaining: 10, unmatched: 0, next: 'resubmit', delayMs: MINUTE_MS, waiting: null }],
    },
    async ({ job, handle }) => {
      await eventually(() => job.shard(1).state === 'waiting');
      await handle.signal(cancelSignal, { by: 'alice' });
    },
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
  jobScenario(
    'continued-while-waiting',
    { submit: Array(4).fill({ ...CAPACITY, delayMs: 20 }) },
    async () => undefined,
    { maxHistoryEvents: 20 },
  ),
  jobScenario(
    'continued-while-ingesting',
    { ingest: Array(4).fill({ settled: 1, remaining: 9, unmatched: 0, next: 'again', delayMs: 20 }) },
    async () => undefined,
    { maxHistoryEvents: 20 },
  ),
  jobScenario(
    'held-back',
    { shards: 2 },
    async ({ job, handle, release }) => {
      job.notBeforeMs = Date.now() + 500;
      release();
      await eventually(() => job.called('readShards').length > 0);
      await handle.signal(shardChangedSignal);
    },
    { held: 'admitJob' },
  ),
  jobScenario(
    'deadline',
    { shards: 2, pollDelayMs: MINUTE_MS, end: 'expired' },
    async ({ job, handle }) => {
      await untilRunning(job);
      job.deadlineMs = Date.now() + 300;
      await handle.signal(pollNowSignal);
    },
    { open: true },
  ),
  jobScenario('deadline-before-submit', { submit: [CAPACITY], end: 'expired' }, async ({ job, handle }) => {
    await eventually(() => job.shard(1).state === 'waiting');
    job.deadlineMs = Date.now();
    await handle.signal(pollNowSignal);
  }),
];

/** One firing of a schedule, by what its activities answer. */
function firing(name: string, script: ScheduleScript): Scenario {
  return {
    name,
    play: async (engine) => {
      const scheduleId = `sched_${name}`;
      engine.schedules.add(scheduleId, script);
      const workflowId = scheduledJobWorkflowId(scheduleId);
      const args = [{ v: 1, scheduleId }];
      await engine.client.workflow.execute('scheduledJob', { workflowId, taskQueue: WORKFLOW_QUEUE, args });
      return [workflowId];
    },
  };
}

/** One webhook, by what its attempts answer. */
function delivery(
  name: string,
  steps: readonly DeliveryStep[],
  meanwhile: (handle: WorkflowHandle, attempts: () => number) => Promise<unknown> = async () => undefined,
  maxHistoryEvents = 400,
): Scenario {
  return {
    name,
    play: async (engine) => {
      const deliveryId = `whd_${name}`;
      engine.webhooks.add(deliveryId, steps);
      const start = webhookDeliveryStart({ deliveryId, tenantId: 'acme', eventType: 'batch_job.completed' });
      const args = [{ ...start.args[0], maxHistoryEvents }];
      const handle = await engine.client.workflow.start('webhookDelivery', { ...start, args });
      await meanwhile(handle, () => engine.webhooks.attemptsOf(deliveryId));
      await engine.client.workflow.result(handle.workflowId);
      return [handle.workflowId];
    },
  };
}

/** One task, by what its attempts answer. */
function task(
  name: string,
  steps: readonly TaskStep[],
  meanwhile: (handle: WorkflowHandle, attempts: () => number) => Promise<unknown> = async () => undefined,
  maxHistoryEvents = 400,
): Scenario {
  return {
    name,
    play: async (engine) => {
      const taskId = `task_${name}`;
      engine.tasks.add(taskId, steps);
      const of = { taskId, tenantId: 'acme', customerId: null, provider: 'openai', providerModel: 'gpt-4o-mini' };
      const start = asyncTaskStart(of);
      const args = [{ ...start.args[0], maxHistoryEvents }];
      const handle = await engine.client.workflow.start('asyncTask', { ...start, args });
      await meanwhile(handle, () => engine.tasks.callsOf(taskId).length);
      await engine.client.workflow.result(handle.workflowId);
      return [handle.workflowId];
    },
  };
}

const AWAY = ApplicationFailure.create({ type: 'items_unavailable', message: 'away', nonRetryable: true });
// A history would name the folder it was recorded in.
AWAY.stack = '';

const MAINTENANCE = [
  'reconcile',
  'restoreSchedules',
  'retention',
  'sweep',
  'sweepDocuments',
  'sweepProviders',
  'sweepTasks',
  'sweepWebhooks',
];

const OTHERS: readonly Scenario[] = [
  delivery('webhook-delivered', [again(20), again(20), DELIVERED]),
  delivery('webhook-given-up', [again(20), ABANDONED]),
  delivery('webhook-woken', [again(HOUR_MS)], async (handle, attempts) => {
    await eventually(() => attempts() === 1);
    await handle.signal(deliverNowSignal);
  }),
  delivery('webhook-tried-for-long', Array(8).fill(again(5)), async () => undefined, 20),
  task('task-completed', []),
  task('task-failed', [TASK_FAILED]),
  task('task-retried', [taskAgain(20), taskAgain(20)]),
  // The api had moved its row before it told the workflow.
  task('task-cancelled-by-the-api', [taskAgain(HOUR_MS), TASK_FAILED], async (handle, attempts) => {
    await eventually(() => attempts() === 1);
    await handle.signal(taskChangedSignal);
  }),
  task('task-cancelled-by-temporal', [taskAgain(HOUR_MS)], async (handle, attempts) => {
    await eventually(() => attempts() === 1);
    await handle.cancel();
  }),
  task('task-tried-for-long', Array(8).fill(taskAgain(5)), async () => undefined, 20),
  firing('fired', { submitRun: [GO_ON] }),
  firing('fired-a-draft', { fillJob: [over('created')] }),
  firing('fired-and-skipped', { beginRun: [over('skipped')] }),
  firing('fired-without-items', { fillJob: [AWAY] }),
  {
    name: 'results-read-once-more',
    play: async (engine) => {
      const job = engine.addJob({}, 'job_results-read-once-more');
      job.shard(1).close('batch_completed');
      job.shard(1).rereadRequested = true;
      const handle = await engine.startShard(job);
      await handle.result();
      return [handle.workflowId];
    },
  },
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
  ...MAINTENANCE.map((name) => ({
    name,
    play: async (engine: FakeEngine) => {
      await engine.client.workflow.execute(name, { workflowId: name, taskQueue: WORKFLOW_QUEUE, args: [] });
      return [name];
    },
  })),
];

export const SCENARIOS: readonly Scenario[] = [...JOBS, ...OTHERS, ...DOCUMENT_SCENARIOS];
