import type { DataConverter } from '@temporalio/common';
import { type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { createDatabaseActivities, createProviderActivities } from '../activities/create-activities.ts';
import type { ActivityDependencies } from '../activities/dependencies.ts';
import { createDocumentActivities } from '../activities/documents/create-document-activities.ts';
import { createMaintenanceActivities } from '../activities/maintenance.ts';
import { createScheduleActivities } from '../activities/schedules/create-schedule-activities.ts';
import type { ScheduleDependencies } from '../activities/schedules/dependencies.ts';
import { createTaskActivities } from '../activities/tasks/create-task-activities.ts';
import { createWebhookActivities } from '../activities/webhooks/create-webhook-activities.ts';
import type { WebhookDependencies } from '../activities/webhooks/dependencies.ts';
import {
  DATABASE_QUEUE,
  directQueue,
  MAINTENANCE_QUEUE,
  providerQueue,
  SCHEDULES_QUEUE,
  WEBHOOKS_QUEUE,
  WORKFLOW_QUEUE,
} from '../workflows/task-queues.ts';
import { bundleWorkflowsApart } from './workflow-bundle.ts';

export interface WorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** How what Temporal keeps is sealed, and opened. */
  readonly dataConverter?: DataConverter;
  readonly dependencies: ActivityDependencies;
  readonly schedules: ScheduleDependencies;
  readonly webhooks: WebhookDependencies;
  /** Connections of the pool; database activities together use fewer. */
  readonly poolSize: number;
  /** Tasks and documents of one provider at once. */
  readonly tasksAtOnce: number;
  /** Null for all. */
  readonly queues: readonly string[] | null;
  /** Built from source when absent. */
  readonly workflowBundle?: WorkflowBundleOption;
}

/** After SIGTERM activities get this long to notice their cancellation and stop at a good point. */
const SHUTDOWN_GRACE = '10 seconds';
const SHUTDOWN_FORCE = '25 seconds';
/** A cancel reaches an activity by its next heartbeat that is sent: within this time an upload stops. */
const HEARTBEAT_EVERY = '5 seconds';
/** A query on a workflow whose worker died waits this long for another. */
const STICKY_TIMEOUT = '3 seconds';
/**
 * Open workflows kept in memory, where the SDK by itself would keep two thousand: memory would grow with the jobs. One
 * that is not kept is read from its history when something happens to it, which takes milliseconds and, for a waiting
 * job, comes every few minutes.
 */
const CACHED_WORKFLOWS = 60;
/** Polls and creates of one provider at once; transfers are bounded apart. */
const PROVIDER_ACTIVITIES = 50;
/** Each may hold a connection while it copies a manifest, or a spool while it fetches one. */
const SCHEDULE_ACTIVITIES = 3;

/** Each waits for a receiver most of the time; which of them are whose is bounded by rows. */
const WEBHOOK_ACTIVITIES = 100;

/** One Temporal worker for each queue this process serves. */
export async function createWorkers(options: WorkerOptions): Promise<Worker[]> {
  const { dependencies } = options;
  const common = {
    connection: options.connection,
    namespace: options.namespace,
    ...(options.dataConverter !== undefined && { dataConverter: options.dataConverter }),
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    maxHeartbeatThrottleInterval: HEARTBEAT_EVERY,
  } as const;
  const creators = new Map<string, () => Promise<Worker>>([
    [
      WORKFLOW_QUEUE,
      async () =>
        Worker.create({
          ...common,
          taskQueue: WORKFLOW_QUEUE,
          workflowBundle: options.workflowBundle ?? (await bundleWorkflowsApart()),
          stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
          maxCachedWorkflows: CACHED_WORKFLOWS,
        }),
    ],
    [
      DATABASE_QUEUE,
      () =>
        Worker.create({
          ...common,
          taskQueue: DATABASE_QUEUE,
          activities: createDatabaseActivities(dependencies),
          maxConcurrentActivityTaskExecutions: Math.max(1, Math.floor(options.poolSize / 2)),
        }),
    ],
    [
      MAINTENANCE_QUEUE,
      () =>
        Worker.create({
          ...common,
          taskQueue: MAINTENANCE_QUEUE,
          activities: createMaintenanceActivities(dependencies),
          maxConcurrentActivityTaskExecutions: 1,
        }),
    ],
    [
      SCHEDULES_QUEUE,
      () =>
        Worker.create({
          ...common,
          taskQueue: SCHEDULES_QUEUE,
          activities: createScheduleActivities(options.schedules),
          maxConcurrentActivityTaskExecutions: SCHEDULE_ACTIVITIES,
        }),
    ],
    [
      WEBHOOKS_QUEUE,
      () =>
        Worker.create({
          ...common,
          taskQueue: WEBHOOKS_QUEUE,
          activities: createWebhookActivities(options.webhooks),
          maxConcurrentActivityTaskExecutions: WEBHOOK_ACTIVITIES,
        }),
    ],
    ...dependencies.providers.names.map((provider) => {
      const create = () =>
        Worker.create({
          ...common,
          taskQueue: providerQueue(provider),
          activities: createProviderActivities(dependencies),
          maxConcurrentActivityTaskExecutions: PROVIDER_ACTIVITIES,
        });
      return [providerQueue(provider), create] as const;
    }),
    ...dependencies.providers.names.map((provider) => {
      const create = () =>
        Worker.create({
          ...common,
          taskQueue: directQueue(provider),
          activities: { ...createTaskActivities(dependencies), ...createDocumentActivities(dependencies) },
          maxConcurrentActivityTaskExecutions: options.tasksAtOnce,
        });
      return [directQueue(provider), create] as const;
    }),
  ]);
  const wanted = options.queues ?? [...creators.keys()];
  const unknown = wanted.filter((queue) => !creators.has(queue));
  if (unknown.length > 0)
    throw new Error(`unknown task queues: ${unknown.join(', ')}; known are ${[...creators.keys()].join(', ')}`);
  return Promise.all(wanted.map((queue) => creators.get(queue)?.())).then((workers) =>
    workers.filter((worker) => worker !== undefined),
  );
}
