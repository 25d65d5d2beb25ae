import { type FailureCode, JOB_WIDE_FAILURE_CODES } from './failure.ts';
import type { ShardState } from './shard-state.ts';

/** The public states of a batch job. */
export const JOB_STATES = [
  'draft',
  'validating',
  'queued',
  'running',
  'finalizing',
  'completed',
  'completed_with_errors',
  'expired',
  'cancel_requested',
  'cancelled',
  'failed',
] as const;
export type JobState = (typeof JOB_STATES)[number];

const JOB_END_STATES = ['completed', 'completed_with_errors', 'expired', 'cancelled', 'failed'] as const;
/** The states a submitted job may end in; nothing leaves them. */
export type JobEndState = (typeof JOB_END_STATES)[number];

/**
 * A submitted job moves freely among the live states: a batch that has to be created anew takes a running job back to
 * the queue, a retry wave takes a finalizing one back to running. Only `validating` by the gateway returns to draft.
 */
const MOVES: { readonly [from in JobState]: readonly JobState[] } = {
  draft: ['validating', 'cancelled'],
  validating: ['draft', 'queued', 'running', 'finalizing', 'cancel_requested', ...JOB_END_STATES],
  queued: ['validating', 'running', 'finalizing', 'cancel_requested', ...JOB_END_STATES],
  running: ['validating', 'queued', 'finalizing', 'cancel_requested', ...JOB_END_STATES],
  finalizing: ['validating', 'queued', 'running', 'cancel_requested', ...JOB_END_STATES],
  cancel_requested: JOB_END_STATES,
  completed: [],
  completed_with_errors: [],
  expired: [],
  cancelled: [],
  failed: [],
};

export function canMove(from: JobState, to: JobState): boolean {
  return MOVES[from].includes(to);
}

export function isTerminal(state: JobState): state is JobEndState {
  return (JOB_END_STATES as readonly JobState[]).includes(state);
}

/** Items of a job by how they ended; originals only, each once. */
export interface EndCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly expired: number;
  readonly cancelled: number;
}

/**
 * How a job ends, by the first rule that holds: all completed, any expired, any cancelled, none completed, else with
 * errors. Throws RangeError when the items have not all ended.
 */
export function endState({ total, completed, failed, expired, cancelled }: EndCounts): JobEndState {
  if (completed + failed + expired + cancelled !== total) throw new RangeError('not every item has ended');
  if (completed === total) return 'completed';
  if (expired > 0) return 'expired';
  if (cancelled > 0) return 'cancelled';
  return completed === 0 ? 'failed' : 'completed_with_errors';
}

export const JOB_ERROR_CODES = ['all_items_failed', ...JOB_WIDE_FAILURE_CODES] as const;
/** Why a whole job failed, as its `error` shows it. */
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number];

/**
 * The `error` of a failed job: the shared code when every item failed by one that hits whole batches (refused, lost,
 * account out of credit), else `all_items_failed`. Null for any other end. `failures` counts items by failure code.
 */
export function jobErrorCode(
  state: JobEndState,
  failures: { readonly [code in FailureCode]?: number },
): JobErrorCode | null {
  if (state !== 'failed') return null;
  const codes = Object.entries(failures).flatMap(([code, count]) => (count > 0 ? [code] : []));
  const shared = codes.length === 1 ? JOB_WIDE_FAILURE_CODES.find((code) => code === codes[0]) : undefined;
  return shared ?? 'all_items_failed';
}

/**
 * The public status of a submitted job that has not ended. `shards` are its attempts, superseded ones included.
 * `validating` and `queued` only while nothing has run; once anything has, shards still to start leave it `running`, and
 * so does a wave of retries that is still to begin.
 */
export function deriveStatus(shards: readonly ShardState[], cancelRequested: boolean, awaitsRetry = false): JobState {
  if (cancelRequested) return 'cancel_requested';
  if (awaitsRetry) return 'running';
  const current = shards.filter((shard) => shard !== 'superseded');
  if (current.some((shard) => shard === 'running' || shard === 'cancelling')) return 'running';
  const computed = current.filter((shard) => COMPUTED.includes(shard)).length;
  if (computed > 0) return computed === current.length ? 'finalizing' : 'running';
  return current.includes('validating') ? 'validating' : 'queued';
}

const COMPUTED: readonly ShardState[] = ['finalizing', 'ingesting', 'settled'];

export type CancelOutcome = 'effective' | 'partial' | 'too_late';

/**
 * What a cancel achieved, once every item has ended: `too_late` when it stopped nothing, `effective` when nothing ran
 * to an answer of its own, else `partial`. A job without items is stopped whole.
 */
export function cancelOutcome({ total, completed, failed, cancelled }: EndCounts): CancelOutcome {
  if (total === 0) return 'effective';
  if (cancelled === 0) return 'too_late';
  return completed + failed === 0 ? 'effective' : 'partial';
}
