import { recordNativeErrors } from '../db/native-errors.ts';
import { untilDeadline } from '../domain/execution-times.ts';
import { resendDelay } from '../domain/resend-delay.ts';
import type { ProviderError } from '../providers/provider-error.ts';
import { isCredentialWaitOver } from './credential-wait.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { IngestResult, WaitingReason } from './interfaces.ts';
import { isOutOfReach } from './provider-window.ts';
import type { Reading } from './reading.ts';
import { recordMove } from './record-move.ts';
import { waitedMs } from './waiting.ts';

/**
 * Results that could not be read: the job says why, and they are read again after growing delays, until what the provider
 * owes is long overdue or a refused credential was waited for long enough.
 */
export async function answerUnread(
  { db, settings, now, random }: ActivityDependencies,
  reading: Reading,
  error: ProviderError,
): Promise<IngestResult> {
  const { job, shard, attempt } = reading;
  const at = now();
  const waiting: WaitingReason = error.code === 'credential_refused' ? 'credential_refused' : 'provider_trouble';
  const waited = waitedMs(shard, waiting, at);
  const { retryAfterMs } = error;
  const patient = resendDelay({ waitedMs: waited, firstDelayMs: settings.pollMinMs, retryAfterMs, random01: random() });
  const delayMs = untilDeadline(job, patient, at);
  await recordNativeErrors(db.pool, job, attempt, [
    { code: error.code, status: error.status, message: error.message, at },
  ]);
  const nextPollAt = new Date(at.getTime() + delayMs);
  await recordMove(db, job, shard.shard, { state: 'ingesting', waiting, nextPollAt, now: at });
  const facts = { settled: 0, remaining: shard.itemCount, unmatched: 0 };
  if (waiting === 'credential_refused') {
    const isOver = await isCredentialWaitOver({ db, settings }, { job, shard, attempt }, at);
    if (isOver) return { next: 'close', reason: 'credential_refused', ...facts };
  } else if (isOutOfReach(attempt, at)) {
    return { next: 'close', reason: 'lost', ...facts };
  }
  return { next: 'retry', delayMs, waiting, ...facts };
}
