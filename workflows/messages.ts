import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AdmissionVerdict } from '../activities/interfaces.ts';
import type { Provider } from '../domain/provider.ts';

/** Input of `batchJob`. Ids and counts only. `recover` is set when the gateway restarts a job whose workflow ended early. */
export interface BatchJobInput {
  v: 1;
  jobId: string;
  submissionNo: number;
  recover?: boolean;
  /** Heard by the run before this one, which had no turn left to act on it. */
  cancel?: CancelRequest;
  pollNow?: boolean;
  /** Events after which a run continues as a new one, where the built-in number does not suit. Shards inherit it. */
  maxHistoryEvents?: number;
  /** How long the job trusts its shards' signals before it looks by itself, where the built-in time does not suit. */
  lookAgainMs?: number;
}

/**
 * Input of `providerBatch`. The counts survive continue-as-new, so that a long wait keeps its long pace and a refused
 * cancel is not asked for more often.
 */
export interface ProviderBatchInput {
  v: 1;
  jobId: string;
  shard: number;
  provider: Provider;
  polls?: number;
  pollsWithoutChange?: number;
  pollsSinceCancel?: number;
  maxHistoryEvents?: number;
}

/** Input of `scheduledJob`; the firing is named by its own workflow id. */
export interface ScheduledJobInput {
  v: 1;
  scheduleId: string;
}

/** Input of `webhookDelivery`; everything else is in the row. */
export interface WebhookDeliveryInput {
  v: 1;
  deliveryId: string;
  maxHistoryEvents?: number;
}

/** Input of `asyncTask`; everything else is in the row. `provider` names the queue its attempts are taken from. */
export interface AsyncTaskInput {
  v: 1;
  taskId: string;
  provider: Provider;
  /** Temporal's own cancel, heard by the run before this one: the task is cancelled once it is queued. */
  cancel?: boolean;
  maxHistoryEvents?: number;
}

/** Input of `documentRun`; everything else is in rows. */
export interface DocumentRunInput {
  v: 1;
  runId: string;
  /** Temporal's own cancel, heard by the run before this one and not yet acted on. */
  cancel?: boolean;
  maxHistoryEvents?: number;
}

export interface CancelRequest {
  reason?: string;
  by?: string;
}

/** What the `state` query answers: ids, states and counts. */
export interface BatchJobState {
  v: 1;
  jobId: string;
  stage: 'admitting' | 'planning' | 'running' | 'retrying' | 'reconciling' | 'ended';
  /** The public status of the job. */
  status: string;
  cancelRequested: boolean;
  shards: { total: number; open: number; settled: number };
}

export interface ProviderBatchState {
  v: 1;
  jobId: string;
  shard: number;
  attempt: number;
  stage: string;
  nativeStatus: string | null;
  polls: number;
  nextPollAt: string | null;
  cancelRequested: boolean;
  /** The job's own deadline has passed: its batch is being cancelled. */
  deadlinePassed: boolean;
}

/**
 * Awaits the verdict on a submission, by default the one that started the workflow. A newer one, made while a refused
 * run was about to end, is judged by that run. The verdict itself is reached on the main path.
 */
export const admitUpdate = defineUpdate<AdmissionVerdict, [{ submissionNo: number }?]>('admit');

/** The payload may be missing or malformed: the Web UI may send none. The truth is `cancel_requested_at`; this only wakes. */
export const cancelSignal = defineSignal<[CancelRequest?]>('cancel');
export const pollNowSignal = defineSignal('pollNow');
/** An operator changed the rows of a shard: whatever it waits for or is at, it reads them again. */
export const rowsChangedSignal = defineSignal('rowsChanged');
/** Sent by a shard to its job whenever its row changed state. */
export const shardChangedSignal = defineSignal('shardChanged');

/** Ends the wait for a delivery's next attempt. */
export const deliverNowSignal = defineSignal('deliverNow');

/** The row of a task was changed from outside: its wait ends, and it reads the row. */
export const taskChangedSignal = defineSignal('taskChanged');

/** The rows of a run over documents were changed from outside: its wait ends, and it reads them. */
export const runChangedSignal = defineSignal('runChanged');

export const batchJobStateQuery = defineQuery<BatchJobState>('state');
export const providerBatchStateQuery = defineQuery<ProviderBatchState>('state');
