import type { CloseReason } from '../domain/close-reason.ts';
import type { StopReason } from '../domain/execution-times.ts';
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

  /** Where the shards stand: those to start next (within the window) and those still open. Ends their wait for `not_before` when it is over. */
  readShards(input: JobRef): Promise<ShardsView>;

  /** Records a cancel that came past the api (signal or Temporal's own). The first request wins. */
  recordCancel(input: JobRef & { by: string; reason: string | null }): Promise<void>;

  /**
   * Whether the job, all of whose items have ended, tries some of them again, and when. Repeating it answers the wave that
   * was planned, with what is left of its wait; one that the hold does not cover is skipped, and the job says so.
   */
  planWave(input: JobRef): Promise<WavePlan>;

  /** Makes the items and shards of a planned wave, once; false where it may not be sent any more. */
  startWave(input: JobRef & { wave: number }): Promise<{ started: boolean }>;

  /** Ends the job when every item has ended: releases what is left of the hold, sets the end state, announces it. */
  reconcileJob(input: JobRef): Promise<{ state: string; itemsWithoutOutcome: number }>;
}

export interface ShardActivities {
  /** What to do with the shard now, read from its rows. Makes a new attempt only when the last surely has no batch. */
  nextStep(input: ShardRef): Promise<ShardStep>;

  /**
   * Ends every item of the shard that has no outcome, by how its batch ended, and settles the shard. One that was given
   * up settles first what had been read of its results.
   */
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
  ingestAttempt(input: AttemptRef & { reading?: number; mayRetry?: boolean }): Promise<IngestResult>;

  /** Asks the provider to cancel what may still run of a shard that is closed without its end. Never fails for the provider. */
  abandonBatch(input: ShardRef): Promise<{ asked: boolean }>;

  /** Reads the results of a settled shard once more. What is new is kept apart: no outcome changes. */
  rereadResults(input: ShardRef): Promise<{ late: number }>;
}

export interface MaintenanceActivities {
  /** Starts or wakes the workflow of every open job that has none or that missed its cancel. */
  recoverJobs(): Promise<{ started: number; signalled: number; failed: number }>;

  /** Shards that show no sign of life: without a workflow, or past the poll they had announced. */
  sweepShards(): Promise<SweepResult>;

  /** Jobs past their own deadline whose shards nobody has touched since. */
  sweepDeadlines(): Promise<SweepResult>;

  /** Creates sent and never answered, long after their deadline. */
  sweepCreates(): Promise<SweepResult>;

  /** Money held for what is over. */
  sweepMoney(): Promise<SweepResult>;

  /** Room in providers' queues that is kept by what is over. */
  sweepRoom(): Promise<SweepResult>;

  /** Batches at the providers that are one too many. */
  sweepSurplus(): Promise<SweepResult>;

  /** Webhooks whose next attempt is overdue. */
  sweepWebhooks(): Promise<SweepResult>;

  /** Tasks that nobody works on although it is their time. */
  sweepTasks(): Promise<SweepResult>;

  /** Counts of tenants' open tasks that are not what their tasks come to. */
  sweepTaskSlots(): Promise<SweepResult>;

  /** Runs over documents that have no workflow. */
  sweepRuns(): Promise<SweepResult>;

  /** Documents that are being processed, and that nobody has been at for long. */
  sweepDocuments(): Promise<SweepResult>;

  /** Recomputes sums of open and recently ended jobs; differences become events. */
  verifyLedgers(): Promise<{ checked: number; differences: number }>;

  /** Partitions ahead of time; what is due is deleted: superseded manifests, old idempotency keys, content of ended jobs. */
  tidyTables(): Promise<{ removed: number }>;
}

export interface WebhookActivities {
  /** One attempt of a delivery, unless its row says that it is over or its receiver has enough to do. */
  deliverWebhook(input: { deliveryId: string }): Promise<DeliveryStep>;
}

export type DeliveryStep =
  | { kind: 'again'; delayMs: number }
  | { kind: 'over'; state: 'delivered' | 'abandoned' | 'deleted' };

export interface TaskActivities {
  /**
   * One attempt of a task on its provider's ordinary endpoint, settled with whatever came of it: begun, answered and charged by
   * its rows, so that a repeat begins the next attempt where the last was lost, and charges none twice. With `cancel` a task
   * that is queued ends instead.
   */
  attemptTask(input: { taskId: string; cancel?: boolean }): Promise<TaskStep>;
}

/** The next attempt is due in `delayMs`. */
export type TaskStep = { kind: 'again'; delayMs: number } | { kind: 'over'; state: 'COMPLETED' | 'FAILED' };

/** Of runs over documents, by their rows. */
export interface DocumentRunActivities {
  /**
   * What comes next. On the way it settles what was canceled, hands the batch job over, plans the repairs, and ends the run. With
   * `cancel` what was not begun is canceled first.
   */
  reviewRun(input: { runId: string; cancel?: boolean }): Promise<DocumentRunStep>;
}

export type DocumentRunStep =
  /** Requests are to be made of the files, in steps. */
  | { kind: 'write'; provider: Provider }
  /** So many documents may be asked about at once. */
  | { kind: 'attempt'; lanes: number; provider: Provider }
  /** Nothing is to be done before. */
  | { kind: 'wait'; delayMs: number }
  | { kind: 'over' };

export interface DocumentActivities {
  /** Makes the next requests of a run in batch mode of its files. To be called until none is left. */
  writeRequests(input: { runId: string }): Promise<{ left: number }>;

  /**
   * One attempt of whichever document of the run is due, with whatever came of it written down and charged by its rows, so
   * that a repeat takes the next and charges none twice.
   */
  attemptDocument(input: { runId: string }): Promise<DocumentStep>;
}

/** `again`: there may be another. `wait`: the next is due then. `idle`: others are at what is left. */
export type DocumentStep = { kind: 'again' } | { kind: 'wait'; delayMs: number } | { kind: 'idle' };

export interface ScheduleActivities {
  /** Makes the draft of the one job of a firing, or ends the run: skipped, refused, or its schedule is gone. */
  beginRun(input: Firing): Promise<RunStep>;

  /** Gives the draft its items. Ends the run where the job is to stay a draft, or where there are no items to be had. */
  fillJob(input: Firing): Promise<RunStep>;

  /** Submits the draft, and ends the run once there is a verdict. To be called again until then. */
  submitRun(input: Firing): Promise<RunStep>;

  endRun(
    input: Firing & { outcome: 'submitted' | 'failed'; error: { code: string; message: string } | null },
  ): Promise<RunStep>;

  /** Creates the schedules that Temporal lacks. */
  restoreSchedules(): Promise<{ restored: number }>;
}

/** One firing of a schedule, by the id of the workflow it started. */
export interface Firing {
  scheduleId: string;
  firing: string;
  /** RFC 3339. */
  scheduledFor: string;
}

export type RunStep =
  | { kind: 'go_on' }
  | { kind: 'over'; outcome: 'created' | 'submitted' | 'skipped' | 'failed' | 'gone' };

/** What a sweep looked at, and its findings. `failed` are those it could not look into. */
export interface SweepResult {
  looked: number;
  repaired: number;
  raised: number;
  failed: number;
}

/** What admission decided. The reasons of a refusal are in `job_submissions`, never in a history. */
export interface AdmissionVerdict {
  verdict: 'accepted' | 'refused' | 'cancelled' | 'stale';
}

/** Wave 2 is the second try of its items. */
export type WavePlan = { kind: 'none' } | { kind: 'wave'; wave: number; items: number; delayMs: number };

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
  /** For how long nothing is started yet, by the job's own wish; absent when that is over or was never asked for. */
  heldForMs?: number;
  cancelRequested: boolean;
  /** The job may try failed items again; absent where it never does. */
  mayRetry?: boolean;
  /** The job's public status, for the search attribute. */
  status: string;
}

export type ShardStep =
  | { kind: 'submit'; attempt: number; items: number; provider: Provider }
  /** A create was sent and its answer never came. */
  | { kind: 'resolve'; attempt: number; items: number; provider: Provider; lookAfterMs: number }
  | { kind: 'poll'; attempt: number; items: number; provider: Provider; nativeStatus: string | null }
  /** Nothing is sent before the job's own time. */
  | { kind: 'held'; delayMs: number }
  /** Nothing is at the provider and nothing may be sent any more. */
  | { kind: 'close'; reason: CloseReason }
  /** With `reread` an operator wants its results read once more. */
  | { kind: 'settled'; reread?: boolean };

export type WaitingReason =
  /** The job's own time has not come. */
  | 'not_before'
  | 'provider_capacity'
  | 'provider_rate_limit'
  | 'provider_trouble'
  | 'provider_account'
  | 'credential_refused'
  | 'confirming_submission'
  /** The provider's batches carry no label, so one create at a time is under way with a credential. */
  | 'submission_turn'
  /** The provider denies a batch that it has accepted. */
  | 'batch_denied'
  /** The provider still works on a batch whose window is over. */
  | 'batch_overdue'
  /** Items that failed are tried again after a while. */
  | 'retry_backoff';

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
  | { kind: 'indeterminate'; candidates: number; delayMs: number }
  | { kind: 'close'; reason: CloseReason };

export interface PollResult {
  kind: 'open' | 'ended' | 'lost';
  nativeStatus: string;
  end: 'completed' | 'failed' | 'expired' | 'cancelled' | null;
  changed: boolean;
  /** What keeps the batch from being followed, for whoever reads along. */
  waiting?: WaitingReason;
  /** How a lost batch's shard is closed where it is not simply lost. */
  close?: CloseReason;
  /** A lost batch may still run: the provider is asked to cancel it. */
  mayRun?: boolean;
  /** Nothing was asked: the shard's rows say something else now. */
  readRows?: boolean;
  /** Until the next poll; already jittered and bounded. */
  delayMs: number;
  /** The provider shall be asked to cancel. */
  cancelRequested: boolean;
  /** By what; absent in what workers before this field have answered. */
  stopped?: StopReason | null;
}

export type IngestResult = { settled: number; remaining: number; unmatched: number } & (
  | { next: 'close'; reason: CloseReason }
  /** Results may still be on their way. */
  | { next: 'again'; delayMs: number }
  /** They could not be read; only for callers that say `mayRetry`. */
  | { next: 'retry'; delayMs: number; waiting: WaitingReason }
  /** What is left goes into a new batch after the delay. */
  | { next: 'resubmit'; delayMs: number; waiting: WaitingReason | null }
);
