import { type AttemptRow, closeAttempt, forgetInputFile } from '../db/attempts.ts';
import { accountOf, giveRoomBack } from '../db/capacity-accounts.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { recordNativeErrors } from '../db/native-errors.ts';
import { splitShard } from '../db/shard-split.ts';
import { getShard, moveShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import type { CloseReason } from '../domain/close-reason.ts';
import { resendDelay } from '../domain/resend-delay.ts';
import type { ProviderError } from '../providers/provider-error.ts';
import { credentialWaitMs } from './credential-wait.ts';
import type { ActivityDependencies, EngineSettings } from './dependencies.ts';
import { answerFullQueue } from './full-queue.ts';
import type { SubmitResult, WaitingReason } from './interfaces.ts';
import { keyOf, wakeNext } from './queue-turn.ts';

/** For how long the same attempt is sent again, and how the shard is closed after that. */
interface Limit {
  readonly setting: keyof Pick<EngineSettings, 'waitLimitMs' | 'capacityWaitMs' | 'providerLostAfterMs'>;
  readonly close: CloseReason;
}

type Answer =
  | { readonly wait: WaitingReason; readonly limit: Limit | null }
  | { readonly close: CloseReason }
  | { readonly split: true }
  | { readonly queue: 'full' };

const TROUBLE: Answer = { wait: 'provider_trouble', limit: null };

/** What a refusal of an upload or create means: wait and send the same attempt again, send less at once, or close. */
const ANSWERS: { readonly [code in ProviderError['code']]: Answer } = {
  rate_limited: { wait: 'provider_rate_limit', limit: { setting: 'capacityWaitMs', close: 'capacity_exhausted' } },
  capacity_full: { queue: 'full' },
  quota_exhausted: { wait: 'provider_account', limit: { setting: 'waitLimitMs', close: 'account_exhausted' } },
  credential_refused: { wait: 'credential_refused', limit: { setting: 'waitLimitMs', close: 'credential_refused' } },
  // A file just uploaded may be unknown to the node that is asked to run it.
  not_found: { wait: 'provider_trouble', limit: { setting: 'providerLostAfterMs', close: 'rejected' } },
  rejected: { close: 'rejected' },
  already_ended: { close: 'rejected' },
  too_large: { split: true },
  unavailable: TROUBLE,
  connection_lost: TROUBLE,
  timed_out: TROUBLE,
  aborted: TROUBLE,
  malformed_reply: TROUBLE,
};

interface Refusal {
  readonly job: JobRow;
  readonly shard: ShardRow;
  /** As it was before the upload. */
  readonly attempt: AttemptRow;
  readonly error: ProviderError;
  /** When the call that was refused began. */
  readonly sentAt: Date;
}

/** Shows the wait on the job, splits the shard, or closes the attempt. The provider's Retry-After is the delay where it gave one. */
export async function answerRefusal(dependencies: ActivityDependencies, refusal: Refusal): Promise<SubmitResult> {
  const result = await answer(dependencies, refusal);
  // No create of this shard is on its way any more.
  await wakeNext(dependencies, accountOf(refusal.attempt, refusal.shard), keyOf(refusal));
  return result;
}

async function answer(dependencies: ActivityDependencies, refusal: Refusal): Promise<SubmitResult> {
  const { db, now, log } = dependencies;
  const { job, shard, attempt, error } = refusal;
  log.warn({ jobId: job.jobId, shard: shard.shard, code: error.code, status: error.status }, 'provider refused');
  await recordNativeErrors(db.pool, job, attempt, [
    { code: error.code, status: error.status, message: error.message, at: now() },
  ]);
  const meaning = ANSWERS[error.code];
  if ('wait' in meaning) return wait(dependencies, refusal, meaning);
  if ('queue' in meaning) return waitForRoom(dependencies, refusal);
  if ('split' in meaning && (await split(dependencies, refusal))) return { kind: 'split' };
  await closeAttempt(db.pool, job.key, attempt, { outcome: 'refused', now: now() });
  return { kind: 'close', reason: 'close' in meaning ? meaning.close : 'rejected' };
}

async function waitForRoom(dependencies: ActivityDependencies, refusal: Refusal): Promise<SubmitResult> {
  const { message: words, retryAfterMs } = refusal.error;
  const full = await answerFullQueue(dependencies, { ...refusal, words, retryAfterMs, isSpent: false });
  if (full.kind === 'split') return full;
  const wait = { kind: 'wait', reason: 'provider_capacity' } as const;
  if (full.kind === 'give_up') return { ...wait, delayMs: 0, giveUp: 'capacity_exhausted' };
  return { ...wait, delayMs: full.delayMs, giveUp: null };
}

async function wait(
  dependencies: ActivityDependencies,
  { job, shard, attempt, error }: Refusal,
  { wait: reason, limit }: Extract<Answer, { wait: WaitingReason }>,
): Promise<SubmitResult> {
  const { db, settings, now, random } = dependencies;
  const at = now();
  // A file from an earlier run that is still unknown is gone: the next run uploads it again.
  if (error.code === 'not_found' && attempt.inputFileId !== null) await forgetInputFile(db.pool, job.key, attempt);
  const since = await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    await giveRoomBack(client, job.key, attempt);
    await moveShard(client, locked, shard.shard, { state: 'waiting', waiting: reason, now: at });
    return (await getShard(client, job.key, shard.shard)).waitingSince ?? at;
  });
  const waitedMs = at.getTime() - since.getTime();
  const isOver = limit !== null && waitedMs >= (await limitMs(dependencies, job, limit));
  if (isOver) await closeAttempt(db.pool, job.key, attempt, { outcome: 'refused', now: at });
  const delayMs = resendDelay({
    waitedMs,
    firstDelayMs: settings.capacityRetryMs,
    retryAfterMs: error.retryAfterMs,
    random01: random(),
  });
  return { kind: 'wait', reason, delayMs, giveUp: isOver ? limit.close : null };
}

async function limitMs(dependencies: ActivityDependencies, job: JobRow, { setting }: Limit): Promise<number> {
  return setting === 'waitLimitMs' ? credentialWaitMs(dependencies, job) : dependencies.settings[setting];
}

/** False for a shard of one item: there is no smaller one. */
async function split({ db, now }: ActivityDependencies, { job, shard, attempt }: Refusal): Promise<boolean> {
  return inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    if (!(await splitShard(client, locked, shard, now()))) return false;
    await closeAttempt(client, job.key, attempt, { outcome: 'refused', now: now() });
    return true;
  });
}
