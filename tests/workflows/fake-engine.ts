import { randomUUID } from 'node:crypto';
import { Client, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { batchJob } from '../../workflows/batch-job.ts';
import { providerBatchWorkflowId } from '../../workflows/ids.ts';
import type { BatchJobInput, ProviderBatchInput } from '../../workflows/messages.ts';
import type { providerBatch } from '../../workflows/provider-batch.ts';
import { batchJobStart } from '../../workflows/start-options.ts';
import { DATABASE_QUEUE, MAINTENANCE_QUEUE, providerQueue, WORKFLOW_QUEUE } from '../../workflows/task-queues.ts';
import { createFakeActivities, FakeJobs } from './fake-activities.ts';
import type { FakeJob, JobScript } from './fake-job.ts';
import { installQuietRuntime } from './quiet-runtime.ts';

export interface FakeEngineOptions {
  readonly address: string;
  readonly namespace: string;
  readonly workflowBundle: WorkflowBundleOption;
  /** Shown in histories as who did what. */
  readonly identity?: string;
}

/** Real workflows on a real server, with activities over rows in memory. */
export interface FakeEngine {
  readonly client: Client;
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
  stop(): Promise<void>;
}

/** Cancellations reach activities through heartbeats, which are sent no more often than this. */
const HEARTBEAT_THROTTLE_MS = 50;

export async function startFakeEngine(options: FakeEngineOptions): Promise<FakeEngine> {
  installQuietRuntime();
  const { address, namespace, identity = 'tests' } = options;
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace, identity });
  const jobs = new FakeJobs();
  const workers = await createFakeWorkers(connection, options, jobs);
  const running = Promise.all(workers.map((worker) => worker.run()));
  const jobStart: FakeEngine['jobStart'] = (job, input) => {
    const start = batchJobStart(
      { jobId: job.jobId, submissionNo: 1, tenantId: 'acme', customerId: 'cust_1', model: 'analysis', itemCount: 10 },
      { recover: false },
    );
    return { ...start, args: [{ ...start.args[0], ...input }] };
  };
  return {
    client,
    addJob: (script, jobId = `job_${randomUUID()}`) => jobs.add(jobId, script),
    jobStart,
    startJob: (job, input) => client.workflow.start<typeof batchJob>('batchJob', jobStart(job, input)),
    startShard: (job, input) =>
      client.workflow.start<typeof providerBatch>('providerBatch', {
        workflowId: providerBatchWorkflowId(job.jobId, 1),
        taskQueue: WORKFLOW_QUEUE,
        args: [{ v: 1, jobId: job.jobId, shard: 1, provider: 'openai', ...input }],
      }),
    stop: async () => {
      jobs.releaseAll();
      for (const worker of workers) worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

function createFakeWorkers(
  connection: NativeConnection,
  { namespace, workflowBundle, identity = 'tests' }: FakeEngineOptions,
  jobs: FakeJobs,
): Promise<Worker[]> {
  const activities = createFakeActivities(jobs);
  const common = { connection, namespace, identity, maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS };
  return Promise.all([
    Worker.create({ ...common, taskQueue: WORKFLOW_QUEUE, workflowBundle }),
    Worker.create({ ...common, taskQueue: DATABASE_QUEUE, activities: { ...activities.database } }),
    Worker.create({ ...common, taskQueue: providerQueue('openai'), activities: { ...activities.provider } }),
    Worker.create({ ...common, taskQueue: MAINTENANCE_QUEUE, activities: { ...activities.maintenance } }),
  ]);
}
