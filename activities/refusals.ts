import { type AttemptRow, closeAttempt, recordNativeErrors } from '../db/attempts.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { getShard, moveShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import type { CloseReason } from '../domain/close-reason.ts';
import type { ProviderError } from '../providers/provider-error.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { SubmitResult, WaitingReason } from './interfaces.ts';

/** What a refusal of an upload or create means: wait and send the same attempt again, or close the shard. */
const ANSWERS: {
  readonly [code in ProviderError['code']]:
    | { wait: WaitingReason; giveUp: CloseReason | null }
    | { close: CloseReason };
} = {
  rate_limited: { wait: 'provider_rate_limit', giveUp: 'capacity_exhausted' },
  capacity_full: { wait: 'provider_capacity', giveUp: 'capacity_exhausted' },
  quota_exhausted: { wait: 'provider_account', giveUp: 'account_exhausted' },
  credential_refused: { wait: 'credential_refused', giveUp: 'credential_refused' },
  rejected: { close: 'rejected' },
  too_large: { close: 'rejected' },
  not_found: { close: 'rejected' },
  already_ended: { close: 'rejected' },
  unavailable: { wait: 'provider_trouble', giveUp: null },
  connection_lost: { wait: 'provider_trouble', giveUp: null },
  timed_out: { wait: 'provider_trouble', giveUp: null },
  aborted: { wait: 'provider_trouble', giveUp: null },
  malformed_reply: { wait: 'provider_trouble', giveUp: null },
};

/** Shows the wait on the job, or closes the attempt. The provider's Retry-After is the delay where it gave one. */
export async function answerRefusal(
  { db, settings, now, log }: ActivityDependencies,
  { job, shard, attempt, error }: { job: JobRow; shard: ShardRow; attempt: AttemptRow; error: ProviderError },
): Promise<SubmitResult> {
  const answer = ANSWERS[error.code];
  log.warn({ jobId: job.jobId, shard: shard.shard, code: error.code, status: error.status }, 'provider refused');
  const at = now();
  await recordNativeErrors(db.pool, job.key, attempt, [
    { code: error.code, status: error.status, message: error.message, at },
  ]);
  if ('close' in answer) {
    await closeAttempt(db.pool, job.key, attempt, { outcome: 'refused', now: at });
    return { kind: 'close', reason: answer.close };
  }
  const since = await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    await moveShard(client, locked, shard.shard, { state: 'waiting', waiting: answer.wait, now: at });
    return (await getShard(client, job.key, shard.shard)).waitingSince ?? at;
  });
  const tooLong = answer.giveUp !== null && at.getTime() - since.getTime() >= settings.waitLimitMs;
  if (tooLong) await closeAttempt(db.pool, job.key, attempt, { outcome: 'refused', now: at });
  return {
    kind: 'wait',
    reason: answer.wait,
    delayMs: error.retryAfterMs ?? settings.capacityRetryMs,
    giveUp: tooLong ? answer.giveUp : null,
  };
}
