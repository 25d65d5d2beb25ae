import type { AttemptRow } from '../db/attempts.ts';
import type { ShardRow } from '../db/shards.ts';
import { credentialWaitEnds } from '../domain/credential-wait.ts';

/** Whether a credential that is refused once more has been waited for long enough, for an attempt that was sent. */
export function isCredentialWaitOver(
  { waitingReason, waitingSince }: Pick<ShardRow, 'waitingReason' | 'waitingSince'>,
  { endedAt, expiresAt, acceptedAt, createStartedAt, createdAt }: AttemptRow,
  at: Date,
  waitMs: number,
): boolean {
  if (waitingReason !== 'credential_refused' || waitingSince === null) return false;
  const batch = { endedAt, expiresAt, sentAt: acceptedAt ?? createStartedAt ?? createdAt };
  return at >= credentialWaitEnds({ since: waitingSince, batch }, waitMs);
}
