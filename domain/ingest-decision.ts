import type { BatchEnd } from './batch-phase.ts';
import type { CloseReason } from './close-reason.ts';

/** What is known after the results of an ended batch were read and settled. */
export interface Ingested {
  readonly end: BatchEnd;
  /** Items of the shard without an outcome. */
  readonly remaining: number;
  /** Items the provider's validation named, now failed; the rest of their batch never ran. */
  readonly rejectedLines: number;
  readonly capacityRefused: boolean;
  /** How long the shard has waited for capacity. */
  readonly waitedMs: number;
  readonly sinceEndMs: number;
}

export interface IngestBounds {
  /** Between the batch's end and calling what is still absent missing. */
  readonly resultGraceMs: number;
  readonly waitLimitMs: number;
  readonly capacityRetryMs: number;
}

export type IngestDecision =
  | { readonly next: 'close'; readonly reason: CloseReason }
  | { readonly next: 'again'; readonly delayMs: number }
  | { readonly next: 'resubmit'; readonly delayMs: number; readonly waiting: 'provider_capacity' | null };

const REASON_OF_END: { readonly [end in BatchEnd]: CloseReason } = {
  completed: 'batch_completed',
  failed: 'batch_failed',
  expired: 'batch_expired',
  cancelled: 'batch_cancelled',
};

/**
 * Close the shard, read the files once more, or send what is left anew. A batch refused for a full queue, or for a few
 * bad lines, ran nothing: what is left goes into a new batch. Absent results count as missing only after the grace.
 */
export function decideAfterIngest(ingested: Ingested, bounds: IngestBounds): IngestDecision {
  const { end, remaining, sinceEndMs } = ingested;
  if (remaining === 0) return { next: 'close', reason: REASON_OF_END[end] };
  if (end === 'failed' && ingested.capacityRefused) {
    if (ingested.waitedMs >= bounds.waitLimitMs) return { next: 'close', reason: 'capacity_exhausted' };
    return { next: 'resubmit', delayMs: bounds.capacityRetryMs, waiting: 'provider_capacity' };
  }
  if (end === 'failed' && ingested.rejectedLines > 0) return { next: 'resubmit', delayMs: 0, waiting: null };
  if (sinceEndMs < bounds.resultGraceMs) return { next: 'again', delayMs: bounds.resultGraceMs - sinceEndMs };
  return { next: 'close', reason: REASON_OF_END[end] };
}
