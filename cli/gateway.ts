import { randomUUID } from 'node:crypto';
import { InvoiceReport } from '../contracts/adjustment.ts';
import {
  BatchSchedule,
  BatchScheduleList,
  type CreateSchedule,
  ScheduleTriggered,
  type UpdateSchedule,
} from '../contracts/batch-schedule.ts';
import { BudgetList } from '../contracts/budget.ts';
import type { CreateJob } from '../contracts/create-job.ts';
import { ItemsAccepted } from '../contracts/item.ts';
import { BatchJob, BatchJobList } from '../contracts/job.ts';
import { JobStorage } from '../contracts/job-storage.ts';
import { LedgerPage } from '../contracts/ledger-entry.ts';
import { ModelList } from '../contracts/model.ts';
import {
  OperatorActTaken,
  type OperatorGiveUp,
  type OperatorReIngest,
  type OperatorResolve,
} from '../contracts/operator-act.ts';
import { LedgerVerification, OperatorJob, PollNowAccepted } from '../contracts/operator-job.ts';
import { JobQuote } from '../contracts/quote.ts';
import { ItemRefund, type RefundItem } from '../contracts/refund.ts';
import { ItemDetail, ResultPage } from '../contracts/result-row.ts';
import type { RetryJob } from '../contracts/retry-job.ts';
import { type CreateTask, Task } from '../contracts/task.ts';
import { JobUsageExport, UsageReport } from '../contracts/usage-record.ts';
import { Validation } from '../contracts/validation.ts';
import { analyticsCall } from './analytics-call.ts';
import type { Client, Query } from './client.ts';
import { documentCalls } from './document-calls.ts';
import { webhookCalls } from './webhook-calls.ts';

const JOBS = '/v1/batch-jobs';
const SCHEDULES = '/v1/batch-schedules';
const TASKS = '/v1/async/task';
const ADJUSTMENTS = '/v1/operator/adjustments';
const VERIFY_TIMEOUT_MS = 30 * 60_000;
const SUBMIT_WAIT_SECONDS = 20;

/** The calls of a tenant's key, by the names of their operations. */
export function tenantCalls(client: Client) {
  return {
    createJob: (job: CreateJob) => client.send('POST', JOBS, BatchJob, { json: job, idempotencyKey: randomUUID() }),
    uploadManifest: (jobId: string, lines: AsyncIterable<Uint8Array>) =>
      client.send('PUT', `${jobPath(jobId)}/manifest`, ItemsAccepted, { lines }),
    validate: (jobId: string) => client.send('POST', `${jobPath(jobId)}/validate`, Validation),
    /** With a number of items it is a sample of the draft that is submitted and answered. */
    submit: (jobId: string, sample?: number) =>
      client.send('POST', `${jobPath(jobId)}/submit`, BatchJob, {
        json: sample === undefined ? {} : { sample },
        idempotencyKey: randomUUID(),
        headers: { Prefer: `wait=${SUBMIT_WAIT_SECONDS}` },
      }),
    getStatus: (jobId: string) => client.get(jobPath(jobId), BatchJob),
    listJobs: (query: Query) => client.get(JOBS, BatchJobList, query),
    listResults: (jobId: string, query: Query) => client.get(`${jobPath(jobId)}/results`, ResultPage, query),
    getItem: (jobId: string, customId: string) =>
      client.get(`${jobPath(jobId)}/items`, ItemDetail, { custom_id: customId }),
    cancel: (jobId: string, reason: string | undefined) =>
      client.send('POST', `${jobPath(jobId)}/cancel`, BatchJob, {
        json: reason === undefined ? {} : { reason },
        idempotencyKey: randomUUID(),
      }),
    retry: (jobId: string, retry: RetryJob) =>
      client.send('POST', `${jobPath(jobId)}/retry`, BatchJob, {
        json: retry,
        idempotencyKey: randomUUID(),
        headers: { Prefer: `wait=${SUBMIT_WAIT_SECONDS}` },
      }),
    deleteJob: (jobId: string) => client.delete(jobPath(jobId)),
    quote: (jobId: string) => client.get(`${jobPath(jobId)}/quote`, JobQuote),
    storage: (jobId: string) => client.get(`${jobPath(jobId)}/storage`, JobStorage),
    listLedger: (jobId: string, query: Query) => client.get(`${jobPath(jobId)}/ledger`, LedgerPage, query),
    exportUsage: (jobId: string, query: Query) => client.get(`${jobPath(jobId)}/usage`, JobUsageExport, query),
    streamUsage: (jobId: string, query: Query) => client.stream(`${jobPath(jobId)}/usage`, '*/*', query),
    streamReport: (query: Query, heed: (headers: Headers) => void) => client.stream('/v1/usage', '*/*', query, heed),
    reportUsage: (query: Query) => client.get('/v1/usage', UsageReport, query),
    createTask: (task: CreateTask) => client.send('POST', TASKS, Task, { json: task, idempotencyKey: randomUUID() }),
    getTask: (taskId: string) => client.get(`${TASKS}/${pathSegment(taskId)}`, Task),
    analytics: analyticsCall(client),
    listSchedules: (query: Query) => client.get(SCHEDULES, BatchScheduleList, query),
    createSchedule: (schedule: CreateSchedule) =>
      client.send('POST', SCHEDULES, BatchSchedule, { json: schedule, idempotencyKey: randomUUID() }),
    changeSchedule: (scheduleId: string, change: UpdateSchedule) =>
      client.send('PATCH', schedulePath(scheduleId), BatchSchedule, { json: change }),
    runSchedule: (scheduleId: string) =>
      client.send('POST', `${schedulePath(scheduleId)}/run`, ScheduleTriggered, {
        json: {},
        idempotencyKey: randomUUID(),
      }),
    deleteSchedule: (scheduleId: string) => client.delete(schedulePath(scheduleId)),
    ...documentCalls(client),
    ...webhookCalls(client),
    listBudgets: () => client.get('/v1/budgets', BudgetList),
    listModels: () => client.get('/v1/models', ModelList),
  };
}

export type TenantCalls = ReturnType<typeof tenantCalls>;

/** The calls of an operator's key. */
export function operatorCalls(client: Client) {
  return {
    analytics: analyticsCall(client),
    getJob: (jobId: string) => client.get(`${operatorPath(jobId)}`, OperatorJob),
    cancel: (jobId: string, reason: string) =>
      client.send('POST', `${operatorPath(jobId)}/cancel`, BatchJob, { json: { reason } }),
    giveUp: (jobId: string, wish: OperatorGiveUp) =>
      client.send('POST', `${operatorPath(jobId)}/give-up`, OperatorActTaken, { json: wish }),
    reIngest: (jobId: string, wish: OperatorReIngest) =>
      client.send('POST', `${operatorPath(jobId)}/re-ingest`, OperatorActTaken, { json: wish }),
    resolve: (jobId: string, wish: OperatorResolve) =>
      client.send('POST', `${operatorPath(jobId)}/resolve`, OperatorActTaken, { json: wish }),
    pollNow: (jobId: string) => client.send('POST', `${operatorPath(jobId)}/poll-now`, PollNowAccepted),
    refund: (jobId: string, customId: string, refund: RefundItem) =>
      client.send('POST', `${operatorPath(jobId)}/items/refund`, ItemRefund, {
        json: refund,
        query: { custom_id: customId },
        idempotencyKey: randomUUID(),
      }),
    previewAdjustments: (csv: string, query: Query) =>
      client.send('POST', `${ADJUSTMENTS}/preview`, InvoiceReport, { csv, query }),
    importAdjustments: (csv: string, query: Query) =>
      client.send('POST', ADJUSTMENTS, InvoiceReport, { csv, query: { ...query, confirm: 'true' } }),
    verifyLedger: (jobId: string | undefined) =>
      client.get('/v1/operator/ledger/verify', LedgerVerification, { job_id: jobId }, VERIFY_TIMEOUT_MS),
  };
}

export type OperatorCalls = ReturnType<typeof operatorCalls>;

function jobPath(jobId: string): string {
  return `${JOBS}/${pathSegment(jobId)}`;
}

function operatorPath(jobId: string): string {
  return `/v1/operator/jobs/${pathSegment(jobId)}`;
}

/** A URL resolves dots alone, encoded or not, so that they would name another path. */
export function pathSegment(id: string): string {
  return /^\.+$/.test(id) ? `${encodeURIComponent(id)}%20` : encodeURIComponent(id);
}

function schedulePath(scheduleId: string): string {
  return `${SCHEDULES}/${encodeURIComponent(scheduleId)}`;
}
