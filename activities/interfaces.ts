import type { CloseReason } from '../domain/close-reason.ts';
import type { Provider } from '../domain/provider.ts';

/**
 * Everything a workflow may ask for, as types: the one door from workflows to activities. Arguments and results carry
 * ids, counts and closed words; never a prompt, a result, a key or an amount.
 */
export interface JobActivities {
  /** Validates, quotes and reserves in one transaction, once per submission. Repeating it answers the stored verdict. */
  admitJob(input: { jobId: string; submissionNo: number }): Promise<AdmissionVerdict>;

  /** Cuts the job into shards, once. Repeating it answers the shards there are. */
  planShards(input: JobRef): Promise<{ shards: number }>;

  /** Where the shards stand: those to start next (within the window) and those still open. */
  readShards(input: JobRef): Promise<ShardsView>;

  /** Records a cancel that came past the api (signal or Temporal's own). The first request wins. */
  recordCancel(input: JobRef & { by: string; reason: string | null }): Promise<void>;

  /** Ends the job when every item has ended: releases what is left of the hold, sets the end state, announces it. */
  reconcileJob(input: JobRef): Promise<{ state: string; itemsWithoutOutcome: number }>;
}

export interface ShardActivities {
  /** What to do with the shard now, read from its rows. Makes a new attempt only when the last surely has no batch. */
  nextStep(input: ShardRef): Promise<ShardStep>;

  /** Ends every item of the shard that has no outcome, by how its batch ended, and settles the shard. */
  closeShard(input: ShardRef & { reason: CloseReason }): Promise<{ closed: number }>;
}

export interface ProviderActivities {
  /** Builds and uploads the input file, then takes and sends the one create of this attempt. */
  submitAttempt(input: AttemptRef): Promise<SubmitResult>;

  /** Looks for the batch of an attempt whose create was never answered. */
  resolveAttempt(input: AttemptRef & { look: number }): Promise<ResolveResult>;

  pollAttempt(input: AttemptRef & { pollsWithoutChange: number }): Promise<PollResult>;

  /** Asks the provider to cancel. An ended batch is success. */
  cancelAttempt(input: AttemptRef): Promise<{ accepted: boolean }>;

  /**
   * Downloads every result file, matches lines by id and settles what they say. May be repeated at any time. `reading`
   * counts from 1, which is also what its absence means.
   */
  ingestAttempt(input: AttemptRef & { reading?: number }): Promise<IngestResult>;
}

export interface MaintenanceActivities {
  /** Starts or wakes the workflow of every open job that has none or that missed its cancel. */
  recoverJobs(): Promise<{ started: number; signalled: number }>;

  /** Recomputes sums of open and recently ended jobs; differences become events. */
  verifyLedgers(): Promise<{ checked: number; differences: number }>;

  /** Partitions ahead of time; superseded manifests and old idempotency keys away. */
  tidyTables(): Promise<{ removed: number }>;
}

/** What admission decided. The reasons of a refusal are in `job_submissions`, never in a history. */
export interface AdmissionVerdict {
  verdict: 'accepted' | 'refused' | 'cancelled' | 'stale';
}

export interface JobRef {
  jobId: string;
}
export interface ShardRef extends JobRef {
  shard: number;
}
export interface AttemptRef extends ShardRef {
  attempt: number;
}

export interface ShardsView {
  total: number;
  settled: number;
  /** Shards not settled, at most 50 of them. */
  open: { shard: number; state: string }[];
  /** Planned shards whose turn it is, each with its provider. */
  toStart: { shard: number; provider: Provider; providerModel: string; items: number }[];
  cancelRequested: boolean;
  /** The job's public status, for the search attribute. */
  status: string;
}

export type ShardStep =
  | { kind: 'submit'; attempt: number; items: number; provider: Provider }
  /** A create was sent and its answer never came. */
  | { kind: 'resolve'; attempt: number; items: number; provider: Provider; lookAfterMs: number }
  | { kind: 'poll'; attempt: number; items: number; provider: Provider; nativeStatus: string | null }
  /** Nothing is at the provider and nothing may be sent any more. */
  | { kind: 'close'; reason: CloseReason }
  | { kind: 'settled' };

export type WaitingReason =
  | 'provider_capacity'
  | 'provider_rate_limit'
  | 'provider_trouble'
  | 'provider_account'
  | 'credential_refused'
  | 'confirming_submission'
  /** The provider's batches carry no label, so one create at a time is under way with a credential. */
  | 'submission_turn'
  /** The provider denies a batch that it has accepted. */
  | 'batch_denied';

export type SubmitResult =
  | { kind: 'accepted' }
  | { kind: 'unknown'; lookAfterMs: number }
  | { kind: 'wait'; reason: WaitingReason; delayMs: number; giveUp: CloseReason | null }
  /** Two smaller shards stand in the shard's place. */
  | { kind: 'split' }
  | { kind: 'close'; reason: CloseReason };

export type ResolveResult =
  | { kind: 'accepted' }
  | { kind: 'look_again'; delayMs: number }
  /** The provider could not be asked, which counts as no look. */
  | { kind: 'no_answer'; delayMs: number }
  | { kind: 'not_found' }
  | { kind: 'indeterminate'; candidates: number; delayMs: number };

export interface PollResult {
  kind: 'open' | 'ended' | 'lost';
  nativeStatus: string;
  end: 'completed' | 'failed' | 'expired' | 'cancelled' | null;
  changed: boolean;
  /** Until the next poll; already jittered and bounded. */
  delayMs: number;
  cancelRequested: boolean;
}

export type IngestResult = { settled: number; remaining: number; unmatched: number } & (
  | { next: 'close'; reason: CloseReason }
  /** Results may still be on their way. */
  | { next: 'again'; delayMs: number }
  /** What is left goes into a new batch after the delay. */
  | { next: 'resubmit'; delayMs: number; waiting: WaitingReason | null }
);
