import { type Failure, failure } from './failure.ts';
import type { ItemEndState } from './item-state.ts';

/** Why a shard is closed: how every item without a result of its own ends. */
export const CLOSE_REASONS = [
  'cancelled',
  'deadline',
  'rejected',
  'capacity_exhausted',
  'credential_refused',
  'account_exhausted',
  'attempts_exhausted',
  'lost',
  'given_up',
  'batch_completed',
  'batch_failed',
  'batch_expired',
  'batch_cancelled',
] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** How an item ends that never got a line: what it cost is nothing, since no provider bills it. */
export function remainderOutcome(reason: CloseReason): { readonly state: ItemEndState; readonly failure: Failure } {
  switch (reason) {
    case 'cancelled':
      return {
        state: 'cancelled',
        failure: failure('job_cancelled', 'The job was cancelled before this item was sent.'),
      };
    case 'deadline':
      return {
        state: 'expired',
        failure: failure('deadline', "The job's deadline passed before this item ran."),
      };
    case 'batch_cancelled':
      return {
        state: 'cancelled',
        failure: failure('provider_cancelled', 'The batch was cancelled before this item ran.'),
      };
    case 'batch_expired':
      return {
        state: 'expired',
        failure: failure('batch_expired', "The provider's window ended before this item ran."),
      };
    case 'batch_completed':
      return {
        state: 'failed',
        failure: failure('missing_result', 'The provider ended the batch without a result for this item.'),
      };
    case 'batch_failed':
    case 'rejected':
      return {
        state: 'failed',
        failure: failure('provider_rejected', 'The provider refused the batch this item was in.'),
      };
    case 'lost':
      return {
        state: 'failed',
        failure: failure('provider_lost', 'The provider stopped knowing the batch this item was in.'),
      };
    case 'given_up':
      return { state: 'failed', failure: failure('given_up', 'An operator gave this item up.') };
    case 'capacity_exhausted':
      return {
        state: 'failed',
        failure: failure('provider_queue_full', "The provider's queue stayed full for as long as the gateway waits."),
      };
    case 'credential_refused':
      return {
        state: 'failed',
        failure: failure('provider_credential_rejected', "The provider refused the gateway's credential."),
      };
    case 'attempts_exhausted':
      return {
        state: 'failed',
        failure: failure('provider_server_error', 'The provider took none of many attempts to send this item.'),
      };
    case 'account_exhausted':
      return {
        state: 'failed',
        failure: failure('provider_account_exhausted', "The gateway's account at the provider is out of credit."),
      };
  }
}
