import { JOB_STATES, type JobState } from './job-state.ts';

export type JobStatusEventType = `batch_job.${JobState}`;

/** One for each state of a job. */
const JOB_STATUS_EVENT_TYPES: readonly JobStatusEventType[] = JOB_STATES.map(jobStatusEventType);

const OTHER_EVENT_TYPES = [
  'batch_job.item_safety_blocked',
  'batch_job.given_up',
  'batch_job.safety_retry_acknowledged',
  'batch_job.retry_wave_started',
  'batch_job.retry_wave_skipped',
  'batch_schedule.run_failed',
  'budget.alert',
  'ledger.difference',
  'task.completed',
  'task.failed',
  'document_batch.run_finished',
] as const;

/** What is announced to webhooks. The list is closed. */
export type EventType = JobStatusEventType | (typeof OTHER_EVENT_TYPES)[number];
export const EVENT_TYPES: readonly EventType[] = [...JOB_STATUS_EVENT_TYPES, ...OTHER_EVENT_TYPES];

/** Those that are about a job. */
export const JOB_EVENT_TYPES: readonly EventType[] = EVENT_TYPES.filter((type) => type.startsWith('batch_job.'));

export function jobStatusEventType(state: JobState): JobStatusEventType {
  return `batch_job.${state}`;
}
