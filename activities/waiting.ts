import type { ShardRow } from '../db/shards.ts';
import type { NativeBatch } from '../providers/provider.ts';
import type { ProviderErrorCode } from '../providers/provider-error.ts';
import type { WaitingReason } from './interfaces.ts';

/** Answers of a provider that knows no such batch or file, or that sends something else for it. */
export const DENIALS: readonly ProviderErrorCode[] = ['not_found', 'malformed_reply', 'rejected'];

/**
 * What a shard waits for once the provider has said how its batch stands: nothing any more. But a batch created anew
 * after a full queue may be refused again until it is through validation, so that wait goes on and keeps its beginning:
 * its limit is counted from there.
 */
export function waitingAfterAnswer(
  { waitingReason }: Pick<ShardRow, 'waitingReason'>,
  { phase, capacityRefused }: Pick<NativeBatch, 'phase' | 'capacityRefused'>,
): { waiting?: null } {
  const mayBeRefused = phase === 'validating' || capacityRefused;
  return mayBeRefused && isWaitingFor(waitingReason, 'provider_capacity') ? {} : { waiting: null };
}

/** How long the shard has waited for this one reason; 0 when it waits for another or for none. */
export function waitedMs(
  { waitingReason, waitingSince }: Pick<ShardRow, 'waitingReason' | 'waitingSince'>,
  reason: WaitingReason,
  at: Date,
): number {
  if (!isWaitingFor(waitingReason, reason) || waitingSince === null) return 0;
  return at.getTime() - waitingSince.getTime();
}

function isWaitingFor(waitingReason: string | null, reason: WaitingReason): boolean {
  return waitingReason === reason;
}
