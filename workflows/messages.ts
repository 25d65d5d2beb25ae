import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AdmissionVerdict } from '../activities/interfaces.ts';
import type { Provider } from '../domain/provider.ts';

/** Input of `batchJob`. Ids and counts only. `recover` is set when the gateway restarts a job whose workflow ended early. */
export interface BatchJobInput {
  v: 1;
  jobId: string;
  submissionNo: number;
  recover?: boolean;
}

/** Input of `providerBatch`. `pollsWithoutChange` survives continue-as-new, so that a long wait keeps its long pace. */
export interface ProviderBatchInput {
  v: 1;
  jobId: string;
  shard: number;
  provider: Provider;
  polls?: number;
  pollsWithoutChange?: number;
}

export interface CancelRequest {
  reason?: string;
  by?: string;
}

/** What the `state` query answers: ids, states and counts. */
export interface BatchJobState {
  v: 1;
  jobId: string;
  stage: 'admitting' | 'planning' | 'running' | 'reconciling' | 'ended';
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
}

/** Awaits the verdict of the submission that started the workflow. The verdict itself is reached on the main path. */
export const admitUpdate = defineUpdate<AdmissionVerdict>('admit');

/** The payload may be missing or malformed: the Web UI may send none. The truth is `cancel_requested_at`; this only wakes. */
export const cancelSignal = defineSignal<[CancelRequest?]>('cancel');
export const pollNowSignal = defineSignal('pollNow');
/** Sent by a shard to its job whenever its row changed state. */
export const shardChangedSignal = defineSignal('shardChanged');

export const batchJobStateQuery = defineQuery<BatchJobState>('state');
export const providerBatchStateQuery = defineQuery<ProviderBatchState>('state');
