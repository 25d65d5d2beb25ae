import type { BatchEnd } from './batch-phase.ts';
import type { CloseReason } from './close-reason.ts';

/** What is known after the results of an ended batch were read and settled. */
export interface Ingested {
  readonly end: BatchEnd;
  /** Items of the shard without an outcome. */
  readonly remaining: number;
  /** Lines that the provider's validation named, their items now failed; the rest of the batch never ran. */
  readonly rejectedLines: number;
  readonly capacityRefused: boolean;
  /** There are result files: something ran, and what else did cannot be told. */
  readonly hasResults: boolean;
  readonly reading: ResultReading;
}

/** One reading of all result files of an ended batch. */
export interface ResultReading {
  /** From 1: how many times the files have been read to their ends, this time included. */
  readonly no: number;
  /** From the batch's end to the beginning of this reading. */
  readonly sinceEndMs: number;
}

export interface IngestBounds {
  /** Between the batch's end and calling what is still absent missing. */
  readonly resultGraceMs: number;
}

export type IngestDecision =
  | { readonly next: 'close'; readonly reason: CloseReason }
  | { readonly next: 'again'; readonly delayMs: number }
  | { readonly next: 'resubmit'; readonly delayMs: number }
  /** As `resubmit`, once the provider's queue has room. */
  | { readonly next: 'wait_for_room' };

const REASON_OF_END: { readonly [end in BatchEnd]: CloseReason } = {
  completed: 'batch_completed',
  failed: 'batch_failed',
  expired: 'batch_expired',
  cancelled: 'batch_cancelled',
};

/** Whether nothing better can be hoped for: the files have been read before, and the grace was over when this began. */
export function isLastReading({ no, sinceEndMs }: ResultReading, { resultGraceMs }: IngestBounds): boolean {
  return no > 1 && sinceEndMs >= resultGraceMs;
}

/**
 * Close the shard, read the files once more, or send what is left anew. A batch refused for a full queue, or for a few
 * bad lines, and without a result ran nothing: what is left goes into a new batch. Absent results count as missing only after the last reading.
 */
export function decideAfterIngest(ingested: Ingested, bounds: IngestBounds): IngestDecision {
  const { end, remaining, reading } = ingested;
  if (remaining === 0) return { next: 'close', reason: REASON_OF_END[end] };
  if (end === 'failed' && ingested.capacityRefused) return { next: 'wait_for_room' };
  if (end === 'failed' && ingested.rejectedLines > 0 && !ingested.hasResults) return { next: 'resubmit', delayMs: 0 };
  if (isLastReading(reading, bounds)) return { next: 'close', reason: REASON_OF_END[end] };
  return { next: 'again', delayMs: Math.max(0, bounds.resultGraceMs - reading.sinceEndMs) };
}
