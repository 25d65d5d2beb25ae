import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
} from '@temporalio/client';
import {
  asyncTaskWorkflowId,
  batchJobWorkflowId,
  documentRunWorkflowId,
  providerBatchWorkflowId,
  RETENTION_SCHEDULE_ID,
} from '../workflows/ids.ts';
import {
  admitUpdate,
  batchJobStateQuery,
  cancelSignal,
  pollNowSignal,
  rowsChangedSignal,
  runChangedSignal,
  taskChangedSignal,
} from '../workflows/messages.ts';
import {
  asyncTaskStart,
  batchJobStart,
  documentRunStart,
  type StartableRun,
  type StartableShard,
  type StartableTask,
  shardRestart,
} from '../workflows/start-options.ts';
import { within } from './deadline.ts';
import type { JobWorkflows, SignalOutcome, SubmitOutcome, SubmittedJob } from './job-workflows.ts';

/** A hand-over is given at least this long, however short the caller's own patience. */
const MIN_HANDOVER_MS = 3_000;
const PROBE_MS = 1_000;
const SIGNAL_MS = 3_000;
const QUERY_MS = 2_000;

/** Over a client whose connection may be lazy: nothing is sent before the first call. */
export function createJobWorkflows(client: Client): JobWorkflows {
  return {
    submit: (job, waitMs) => submit(client, job, waitMs),
    signalCancel: (jobId, { reason, by }) => {
      const request = { by, ...(reason !== null && { reason }) };
      return signal(client, batchJobWorkflowId(jobId), (handle) => handle.signal(cancelSignal, request));
    },
    pollNow: async (jobId, shards) => {
      const job = await signal(client, batchJobWorkflowId(jobId), (handle) => handle.signal(pollNowSignal));
      if (job !== 'not_running') return job;
      const outcomes = await Promise.all(shards.map((shard) => pollShard(client, jobId, shard)));
      return outcomes.find((outcome) => outcome !== 'not_running') ?? 'not_running';
    },
    pollShard: (jobId, shard) => pollShard(client, jobId, shard),
    rowsChanged: (jobId, shards) => tellShards(client, jobId, shards),
    startShard: (shard) => startShard(client, shard),
    startTask: (task) => startTask(client, task),
    taskChanged: (taskId) => signal(client, asyncTaskWorkflowId(taskId), (handle) => handle.signal(taskChangedSignal)),
    startRun: (run) => startRun(client, run),
    runChanged: (runId) => signal(client, documentRunWorkflowId(runId), (handle) => handle.signal(runChangedSignal)),
    queryState: async (jobId) => {
      const handle = client.workflow.getHandle(batchJobWorkflowId(jobId));
      const answer = bounded(client, QUERY_MS, () => handle.query(batchJobStateQuery)).catch(() => null);
      return within(answer, QUERY_MS, null);
    },
    runRetention: () => {
      const run = () => client.schedule.getHandle(RETENTION_SCHEDULE_ID).trigger();
      const done = bounded(client, SIGNAL_MS, run).then(
        (): SignalOutcome => 'signalled',
        (): SignalOutcome => 'unreachable',
      );
      return within(done, SIGNAL_MS, 'unreachable');
    },
    isReachable: () => isReachable(client),
  };
}

/**
 * One Update-with-Start: starts the job's workflow, or finds it running, and awaits the verdict of this submission. A
 * resubmit after a refusal meets a closed workflow, so its id may be used again.
 */
async function submit(client: Client, job: SubmittedJob, waitMs: number): Promise<SubmitOutcome> {
  const operation = bounded(client, Math.max(waitMs, MIN_HANDOVER_MS), () =>
    client.workflow.executeUpdateWithStart(admitUpdate, {
      updateId: `admit-${job.submissionNo}`,
      args: [{ submissionNo: job.submissionNo }],
      startWorkflowOperation: new WithStartWorkflowOperation('batchJob', {
        ...batchJobStart(job, { recover: false }),
        workflowIdConflictPolicy: 'USE_EXISTING',
      }),
    }),
  );
  const outcome = operation.then(
    ({ verdict }): SubmitOutcome => ({ kind: 'verdict', verdict }),
    (error: unknown): Promise<SubmitOutcome> => explainFailure(client, job, error),
  );
  const startedAt = performance.now();
  const quick = await within(outcome, Math.min(waitMs, MIN_HANDOVER_MS), null);
  if (quick !== null) return quick;
  // The client would go on trying for as long as it may; nobody needs to wait for a server that is away.
  if (!(await isReachable(client))) return { kind: 'unreachable' };
  const late = await within(outcome, Math.max(0, waitMs - (performance.now() - startedAt)), null);
  if (late !== null) return late;
  return (await isRunning(client, job.jobId)) === true ? { kind: 'pending' } : outcome;
}

/**
 * A call that could not be made, or ran out of time, may have started the workflow all the same: only Temporal knows. An
 * error of another kind came from Temporal, so the hand-over reached it.
 */
async function explainFailure(client: Client, job: SubmittedJob, error: unknown): Promise<SubmitOutcome> {
  if (!isUnanswered(error)) return { kind: 'pending' };
  const running = await isRunning(client, job.jobId);
  return running === true ? { kind: 'pending' } : { kind: 'unreachable' };
}

/** gRPC CANCELLED, UNKNOWN, DEADLINE_EXCEEDED and UNAVAILABLE (gRPC documentation, status codes). */
const UNANSWERED_CODES: readonly number[] = [1, 2, 4, 14];

function isUnanswered(error: unknown): boolean {
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  if (isGrpcServiceError(cause)) return UNANSWERED_CODES.includes(cause.code);
  return error instanceof ServiceError;
}

async function isReachable(client: Client): Promise<boolean> {
  const health = bounded(client, PROBE_MS, () => client.connection.workflowService.getSystemInfo({})).then(
    () => true,
    () => false,
  );
  return within(health, PROBE_MS, false);
}

/** Null when Temporal does not answer. */
async function isRunning(client: Client, jobId: string): Promise<boolean | null> {
  const handle = client.workflow.getHandle(batchJobWorkflowId(jobId));
  const answer = bounded(client, PROBE_MS, () => handle.describe()).then(
    ({ status }) => status.name === 'RUNNING',
    (error: unknown) => (error instanceof WorkflowNotFoundError ? false : null),
  );
  return within(answer, PROBE_MS, null);
}

function pollShard(client: Client, jobId: string, shard: number): Promise<SignalOutcome> {
  return signal(client, providerBatchWorkflowId(jobId, shard), (handle) => handle.signal(pollNowSignal));
}

/** Shards signalled at once. */
const SHARDS_AT_ONCE = 20;

/** A job told to poll finds those of its shards that have no workflow, and starts them. */
async function tellShards(client: Client, jobId: string, shards: readonly number[]): Promise<SignalOutcome> {
  const outcomes: SignalOutcome[] = [];
  for (let first = 0; first < shards.length; first += SHARDS_AT_ONCE) {
    const some = shards.slice(first, first + SHARDS_AT_ONCE).map((shard) => {
      const tell = (handle: Handle) => handle.signal(rowsChangedSignal);
      return signal(client, providerBatchWorkflowId(jobId, shard), tell);
    });
    outcomes.push(...(await Promise.all(some)));
    if (outcomes.includes('unreachable')) return 'unreachable';
  }
  if (!outcomes.includes('not_running')) return 'signalled';
  return signal(client, batchJobWorkflowId(jobId), (handle) => handle.signal(pollNowSignal));
}

async function startShard(client: Client, shard: StartableShard): Promise<SignalOutcome> {
  const options = { ...shardRestart(shard), signal: rowsChangedSignal };
  const started = bounded(client, SIGNAL_MS, () => client.workflow.signalWithStart('providerBatch', options)).then(
    (): SignalOutcome => 'signalled',
    (): SignalOutcome => 'unreachable',
  );
  return within(started, SIGNAL_MS, 'unreachable');
}

/** One that the sweep has started meanwhile goes on. */
async function startTask(client: Client, task: StartableTask): Promise<SignalOutcome> {
  const options = { ...asyncTaskStart(task), workflowIdConflictPolicy: 'USE_EXISTING' as const };
  const started = bounded(client, SIGNAL_MS, () => client.workflow.start('asyncTask', options)).then(
    (): SignalOutcome => 'signalled',
    (): SignalOutcome => 'unreachable',
  );
  return within(started, SIGNAL_MS, 'unreachable');
}

async function startRun(client: Client, run: StartableRun): Promise<SignalOutcome> {
  const options = { ...documentRunStart(run), workflowIdConflictPolicy: 'USE_EXISTING' as const };
  const started = bounded(client, SIGNAL_MS, () => client.workflow.start('documentRun', options)).then(
    (): SignalOutcome => 'signalled',
    (): SignalOutcome => 'unreachable',
  );
  return within(started, SIGNAL_MS, 'unreachable');
}

type Handle = ReturnType<Client['workflow']['getHandle']>;

async function signal(
  client: Client,
  workflowId: string,
  send: (handle: Handle) => Promise<void>,
): Promise<SignalOutcome> {
  const sent = bounded(client, SIGNAL_MS, () => send(client.workflow.getHandle(workflowId))).then(
    (): SignalOutcome => 'signalled',
    (error: unknown): SignalOutcome => (error instanceof WorkflowNotFoundError ? 'not_running' : 'unreachable'),
  );
  return within(sent, SIGNAL_MS, 'unreachable');
}

function bounded<Result>(client: Client, limitMs: number, call: () => Promise<Result>): Promise<Result> {
  return client.connection.withDeadline(Date.now() + limitMs, call);
}
