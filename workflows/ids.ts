/** Workflow ids from domain ids. An id names the thing, never the run, so a signal reaches whichever run is live. */

export function batchJobWorkflowId(jobId: string): string {
  return `batch-job/${jobId}`;
}

/** Temporal adds the time of each firing to it. */
export function scheduledJobWorkflowId(scheduleId: string): string {
  return `scheduled-job/${scheduleId}`;
}

/** Of Temporal's schedules those of recurring jobs, apart from the gateway's own. */
export const TEMPORAL_SCHEDULE_PREFIX = 'batch-schedule/';

export function temporalScheduleId(scheduleId: string): string {
  return `${TEMPORAL_SCHEDULE_PREFIX}${scheduleId}`;
}

export function webhookDeliveryWorkflowId(deliveryId: string): string {
  return `webhook/${deliveryId}`;
}

export function providerBatchWorkflowId(jobId: string, shard: number): string {
  return `provider-batch/${jobId}/${shard}`;
}

export function asyncTaskWorkflowId(taskId: string): string {
  return `async-task/${taskId}`;
}

export function documentRunWorkflowId(runId: string): string {
  return `document-run/${runId}`;
}

/** Of the schedule that deletes what is due. */
export const RETENTION_SCHEDULE_ID = 'batchgate/retention';
