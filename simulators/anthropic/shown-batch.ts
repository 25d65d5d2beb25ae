import { isTerminal } from '../batch-record.ts';
import type { FaultAction } from '../fault-actions.ts';
import { shownCounts } from '../shown-counts.ts';
import type { BatchRecord } from './records.ts';

export type BatchView = ReturnType<typeof batchView>;

/** A batch as the API shows it at `now`, with null for what is not (yet, or any longer) there; `origin` is the asker's. */
export function batchView(batch: BatchRecord, now: number, origin: string) {
  const { id, status, enteredAt, result } = batch;
  const isEnded = isTerminal(status);
  const isArchived = isEnded && now >= batch.archivesAt;
  return {
    id,
    type: 'message_batch',
    processing_status: statusOf(batch),
    request_counts: {
      processing: isEnded ? 0 : batch.total,
      succeeded: result?.completed ?? 0,
      errored: result?.failed ?? 0,
      canceled: result?.canceled ?? 0,
      expired: result?.expired ?? 0,
    },
    created_at: timeOf(batch.createdAt),
    expires_at: timeOf(batch.expiresAt),
    ended_at: isEnded ? timeOf(enteredAt[status]) : null,
    cancel_initiated_at: timeOf(enteredAt.cancelling),
    archived_at: isArchived ? timeOf(batch.archivesAt) : null,
    results_url: result?.fileId == null || isArchived ? null : `${origin}/v1/messages/batches/${id}/results`,
  };
}

/** The view as a fault wants it shown. */
export function distorted(view: BatchView, action: FaultAction) {
  const { native_status: status = view.processing_status, results_url: url = view.results_url } = action;
  const { request_counts: trueCounts, ...rest } = { ...view, processing_status: status, results_url: url };
  const counts = shownCounts(trueCounts, action.counts);
  return { ...rest, ...(counts !== undefined && { request_counts: counts }) };
}

/** Nothing tells a batch that is about to end from one that runs. */
export function statusOf({ status }: BatchRecord): string {
  if (isTerminal(status)) return 'ended';
  return status === 'cancelling' ? 'canceling' : 'in_progress';
}

function timeOf(timeMs: number | undefined): string | null {
  return timeMs === undefined ? null : new Date(timeMs).toISOString();
}
