import type { Provider } from '../domain/provider.ts';
import type { ScheduleTiming, Weekday } from '../domain/schedule-timing.ts';
import {
  asyncTaskWorkflowId,
  batchJobWorkflowId,
  documentRunWorkflowId,
  providerBatchWorkflowId,
  scheduledJobWorkflowId,
  temporalScheduleId,
  webhookDeliveryWorkflowId,
} from './ids.ts';
import type {
  AsyncTaskInput,
  BatchJobInput,
  DocumentRunInput,
  ProviderBatchInput,
  ScheduledJobInput,
  WebhookDeliveryInput,
} from './messages.ts';
import { searchAttributes } from './search-attributes.ts';
import { WORKFLOW_QUEUE } from './task-queues.ts';

export interface StartableJob {
  readonly jobId: string;
  readonly submissionNo: number;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly model: string;
  readonly itemCount: number;
  /** Of the submission that it is started for. */
  readonly submittedAt: Date | null;
}

/** A shard whose workflow has ended, and is needed once more. */
export interface StartableShard {
  readonly jobId: string;
  readonly shard: number;
  readonly provider: Provider;
  readonly providerModel: string;
  readonly tenantId: string;
  readonly customerId: string | null;
}

/** Everything a `providerBatch` is started with outside of its job. */
export function shardRestart({ jobId, shard, provider, providerModel, tenantId, customerId }: StartableShard) {
  const input: ProviderBatchInput = { v: 1, jobId, shard, provider };
  return {
    workflowId: providerBatchWorkflowId(jobId, shard),
    taskQueue: WORKFLOW_QUEUE,
    args: [input] as [ProviderBatchInput],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: `${provider}/${providerModel} · shard ${shard} · by an operator`,
    typedSearchAttributes: [
      { key: searchAttributes.tenant, value: tenantId },
      ...(customerId === null ? [] : [{ key: searchAttributes.customer, value: customerId }]),
      { key: searchAttributes.provider, value: provider },
      { key: searchAttributes.model, value: providerModel },
      { key: searchAttributes.status, value: 'settled' },
    ],
    priority: { fairnessKey: tenantId },
  };
}

/**
 * Everything a `batchJob` is started with but the conflict policy. A closed run of the same id may be followed by a
 * new one: a resubmit after a refusal, and a recovery, both are.
 */
export function batchJobStart(job: StartableJob, { recover }: { recover: boolean }) {
  const input: BatchJobInput = { v: 1, jobId: job.jobId, submissionNo: job.submissionNo, ...(recover && { recover }) };
  return {
    workflowId: batchJobWorkflowId(job.jobId),
    taskQueue: WORKFLOW_QUEUE,
    args: [input] as [BatchJobInput],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: `${job.tenantId} · ${job.itemCount} items · ${job.model}`,
    typedSearchAttributes: [
      { key: searchAttributes.tenant, value: job.tenantId },
      ...(job.customerId === null ? [] : [{ key: searchAttributes.customer, value: job.customerId }]),
      { key: searchAttributes.model, value: job.model },
      { key: searchAttributes.status, value: 'validating' },
      ...(job.submittedAt === null ? [] : [{ key: searchAttributes.submitted, value: job.submittedAt.toISOString() }]),
    ],
    priority: { fairnessKey: job.tenantId },
  };
}

export interface StartableDelivery {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly eventType: string;
}

/** Everything a `webhookDelivery` is started with but the conflict policy. A replay follows under the same id. */
export function webhookDeliveryStart({ deliveryId, tenantId, eventType }: StartableDelivery) {
  const input: WebhookDeliveryInput = { v: 1, deliveryId };
  return {
    workflowId: webhookDeliveryWorkflowId(deliveryId),
    taskQueue: WORKFLOW_QUEUE,
    args: [input] as [WebhookDeliveryInput],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: `${tenantId} · ${eventType}`,
    typedSearchAttributes: [{ key: searchAttributes.tenant, value: tenantId }],
    priority: { fairnessKey: tenantId },
  };
}

export interface StartableTask {
  readonly taskId: string;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly provider: Provider;
  /** The provider's name of it. */
  readonly providerModel: string;
}

/** Everything an `asyncTask` is started with but the conflict policy. Its priority is no part of it: turns go by tenant. */
export function asyncTaskStart({ taskId, tenantId, customerId, provider, providerModel }: StartableTask) {
  const input: AsyncTaskInput = { v: 1, taskId, provider };
  return {
    workflowId: asyncTaskWorkflowId(taskId),
    taskQueue: WORKFLOW_QUEUE,
    args: [input] as [AsyncTaskInput],
    // One whose workflow was ended from outside is taken up again.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: `${tenantId} · ${provider}/${providerModel}`,
    typedSearchAttributes: [
      { key: searchAttributes.tenant, value: tenantId },
      ...(customerId === null ? [] : [{ key: searchAttributes.customer, value: customerId }]),
      { key: searchAttributes.provider, value: provider },
      { key: searchAttributes.model, value: providerModel },
    ],
    priority: { fairnessKey: tenantId },
  };
}

export interface StartableRun {
  readonly runId: string;
  readonly tenantId: string;
  readonly customerId: string | null;
  /** As it was asked for. */
  readonly model: string;
  readonly mode: 'direct' | 'batch';
  readonly documents: number;
}

/** Everything a `documentRun` is started with but the conflict policy. */
export function documentRunStart({ runId, tenantId, customerId, model, mode, documents }: StartableRun) {
  const input: DocumentRunInput = { v: 1, runId };
  return {
    workflowId: documentRunWorkflowId(runId),
    taskQueue: WORKFLOW_QUEUE,
    args: [input] as [DocumentRunInput],
    // One whose workflow was ended from outside is taken up again.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: `${tenantId} · ${documents} documents · ${model} · ${mode}`,
    typedSearchAttributes: [
      { key: searchAttributes.tenant, value: tenantId },
      ...(customerId === null ? [] : [{ key: searchAttributes.customer, value: customerId }]),
      { key: searchAttributes.model, value: model },
      { key: searchAttributes.status, value: 'running' },
    ],
    priority: { fairnessKey: tenantId },
  };
}

export interface SchedulableJob {
  readonly scheduleId: string;
  readonly tenantId: string;
  readonly name: string;
  readonly timing: ScheduleTiming;
  readonly pausedAt: Date | null;
}

/**
 * Everything a recurring job's schedule is created with. Each firing starts its own workflow: whether one is too many is
 * decided by rows, where it is recorded too. What an outage kept from firing is made up for within an hour.
 */
export function jobSchedule({ scheduleId, tenantId, name, timing, pausedAt }: SchedulableJob) {
  const input: ScheduledJobInput = { v: 1, scheduleId };
  return {
    scheduleId: temporalScheduleId(scheduleId),
    spec: scheduleSpec(timing),
    policies: { overlap: 'ALLOW_ALL' as const, catchupWindow: '1 hour' as const },
    action: {
      type: 'startWorkflow' as const,
      workflowType: 'scheduledJob',
      workflowId: scheduledJobWorkflowId(scheduleId),
      taskQueue: WORKFLOW_QUEUE,
      args: [input] as [ScheduledJobInput],
      staticSummary: `${tenantId} · ${name}`,
      typedSearchAttributes: [{ key: searchAttributes.tenant, value: tenantId }],
      priority: { fairnessKey: tenantId },
    },
    state: { paused: pausedAt !== null, note: name },
  };
}

function scheduleSpec({ cron, every_seconds: every, calendar, time_zone: timezone = 'UTC' }: ScheduleTiming) {
  if (every !== undefined) return { intervals: [{ every: every * 1_000 }] };
  if (cron !== undefined) return { cronExpressions: [cron], timezone };
  const { minutes, hours, days_of_month: days, months, days_of_week: weekdays } = calendar ?? {};
  const times = {
    ...(minutes !== undefined && { minute: [...minutes] }),
    ...(hours !== undefined && { hour: [...hours] }),
    ...(days !== undefined && { dayOfMonth: [...days] }),
    ...(months !== undefined && { month: months.map((month) => MONTHS[month - 1] ?? 'JANUARY') }),
    ...(weekdays !== undefined && { dayOfWeek: weekdays.map((day) => day.toUpperCase() as Uppercase<Weekday>) }),
  };
  return { calendars: [times], timezone };
}

const MONTHS = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const;
