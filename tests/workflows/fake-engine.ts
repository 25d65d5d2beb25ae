import { randomUUID } from 'node:crypto';
import { Client, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { batchJob } from '../../workflows/batch-job.ts';
import { providerBatchWorkflowId } from '../../workflows/ids.ts';
import type { BatchJobInput, ProviderBatchInput } from '../../workflows/messages.ts';
import type { providerBatch } from '../../workflows/provider-batch.ts';
import { batchJobStart } from '../../workflows/start-options.ts';
import {
  DATABASE_QUEUE,
  directQueue,
  MAINTENANCE_QUEUE,
  providerQueue,
  SCHEDULES_QUEUE,
  WEBHOOKS_QUEUE,
  WORKFLOW_QUEUE,
} from '../../workflows/task-queues.ts';
import { createFakeActivities, FakeJobs } from './fake-activities.ts';
import type { FakeJob, JobScript } from './fake-job.ts';
import { FakeRuns } from './fake-runs.ts';
import { FakeSchedules } from './fake-schedules.ts';
import { FakeTasks } from './fake-tasks.ts';
import { FakeWebhooks } from './fake-webhooks.ts';
import { installQuietRuntime } from './quiet-runtime.ts';

export interface FakeEngineOptions {
  readonly address: string;
  readonly namespace: string;
  readonly workflowBundle: WorkflowBundleOption;
  /** Shown in histories as who did what. */
  readonly identity?: string;
  /** How long a workflow waits for the worker that knows it before any other may go on with it; 10 s unless said. */
  readonly stickyTimeoutMs?: number;
}

/** Real workflows on a real server, with activities over rows in memory. */
export interface FakeEngine {
  readonly client: Client;
  readonly schedules: FakeSchedules;
  readonly webhooks: FakeWebhooks;
  readonly tasks: FakeTasks;
  readonly runs: FakeRuns;
  /** A new job, with an id of its own unless one is given. Starts nothing. */
  addJob(script?: JobScript, jobId?: string): FakeJob;
  startJob(
    job: FakeJob,
    input?: Partial<BatchJobInput>,
  ): Promise<WorkflowHandleWithFirstExecutionRunId<typeof batchJob>>;
  /** Starts the workflow of a shard with no job above it. */
  startShard(
    job: FakeJob,
    input?: Partial<ProviderBatchInput>,
  ): Promise<WorkflowHandleWithFirstExecutionRunId<typeof providerBatch>>;
  /** What a job is started with, for starts of other kinds. */
  jobStart(job: FakeJob, input?: Partial<BatchJobInput>): ReturnType<typeof batchJobStart>;
  /** Brings a worker with other workflow code to work, and then drains the one there was. */
  deploy(workflowBundle: WorkflowBundleOption, identity: string): Promise<void>;
  stop(): Promise<void>;
}

/** Of every job that is started. */
export const SUBMITTED_AT = new Date('2026-11-30T10:00:00.000Z');

/** Cancellations reach activities through heartbeats, which are sent no more often than this. */
const HEARTBEAT_THROTTLE_MS = 50;

export async function startFakeEngine(options: FakeEngineOptions): Promise<FakeEngine> {
  installQuietRuntime();
  const { address, namespace, identity = 'tests' } = options;
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace, identity });
  const jobs = new FakeJobs();
  const schedules = new FakeSchedules();
  const webhooks = new FakeWebhooks();
  const tasks = new FakeTasks();
  const runs = new FakeRuns();
  const workers = await createFakeWorkers(connection, options, { jobs, schedules, webhooks, tasks, runs });
  const running = Promise.all(workers.map((worker) => worker.run()));
  let workflows = await startWorkflowWorker(options);
  const jobStart: FakeEngine['jobStart'] = (job, input) => {
    const start = batchJobStart(
      {
        jobId: job.jobId,
        submissionNo: 1,
        tenantId: 'acme',
        customerId: 'cust_1',
        model: 'analysis',
        itemCount: 10,
        submittedAt: SUBMITTED_AT,
      },
      { recover: false },
    );
    return { ...start, args: [{ ...start.args[0], ...input }] };
  };
  return {
    client,
    schedules,
    webhooks,
    tasks,
    runs,
    addJob: (script, jobId = `job_${randomUUID()}`) => jobs.add(jobId, script),
    jobStart,
    startJob: (job, input) => client.workflow.start<typeof batchJob>('batchJob', jobStart(job, input)),
    startShard: (job, input) =>
      client.workflow.start<typeof providerBatch>('providerBatch', {
        workflowId: providerBatchWorkflowId(job.jobId, 1),
        taskQueue: WORKFLOW_QUEUE,
        args: [{ v: 1, jobId: job.jobId, shard: 1, provider: 'openai', ...input }],
      }),
    deploy: async (bundle, by) => {
      const before = workflows;
      workflows = await startWorkflowWorker({ ...options, workflowBundle: bundle, identity: by });
      await before.drain();
    },
    stop: async () => {
      jobs.releaseAll();
      for (const worker of workers) worker.shutdown();
      await Promise.all([running, workflows.drain()]);
      await connection.close();
    },
  };
}

/** On a connection of its own: a second worker of a queue in one process needs one. */
async function startWorkflowWorker(options: FakeEngineOptions) {
  const { address, namespace, workflowBundle, identity = 'tests', stickyTimeoutMs = 10_000 } = options;
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace,
    identity,
    taskQueue: WORKFLOW_QUEUE,
    workflowBundle,
    stickyQueueScheduleToStartTimeout: stickyTimeoutMs,
  });
  const running = worker.run();
  return {
    drain: async () => {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

function createFakeWorkers(
  connection: NativeConnection,
  { namespace, identity = 'tests' }: FakeEngineOptions,
  {
    jobs,
    schedules,
    webhooks,
    tasks,
    runs,
  }: {
    readonly jobs: FakeJobs;
    readonly schedules: FakeSchedules;
    readonly webhooks: FakeWebhooks;
    readonly tasks: FakeTasks;
    readonly runs: FakeRuns;
  },
): Promise<Worker[]> {
  const activities = createFakeActivities(jobs);
  const common = { connection, namespace, identity, maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS };
  return Promise.all([
    Worker.create({ ...common, taskQueue: DATABASE_QUEUE, activities: { ...activities.database, ...runs.database() } }),
    Worker.create({ ...common, taskQueue: providerQueue('openai'), activities: { ...activities.provider } }),
    Worker.create({
      ...common,
      taskQueue: directQueue('openai'),
      activities: { ...tasks.activities(), ...runs.direct() },
    }),
    Worker.create({ ...common, taskQueue: MAINTENANCE_QUEUE, activities: { ...activities.maintenance } }),
    Worker.create({ ...common, taskQueue: SCHEDULES_QUEUE, activities: { ...schedules.activities() } }),
    Worker.create({ ...common, taskQueue: WEBHOOKS_QUEUE, activities: { ...webhooks.activities() } }),
  ]);
}
