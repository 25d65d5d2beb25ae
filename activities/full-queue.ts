import type pg from 'pg';
import { type AttemptRow, closeAttempt, getAttempt } from '../db/attempts.ts';
import { accountOf, giveRoomBack, lockAccount, readUse, recordFull } from '../db/capacity-accounts.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { splitShard } from '../db/shard-split.ts';
import { getShard, moveShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { isTooLargeForQueue, wasAlone } from '../domain/capacity.ts';
import { resendDelay } from '../domain/resend-delay.ts';
import { type NamedQueueLimit, readQueueLimit } from '../providers/queue-limit.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { keyOf } from './queue-turn.ts';
import { waitedMs } from './waiting.ts';

/** A batch that the provider's queue had no room for. */
export interface FullQueue {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  /** The provider's own, for what they tell of a limit. */
  readonly words: string;
  readonly retryAfterMs: number | null;
  readonly sentAt: Date;
  /** It was refused after it had been accepted: what is left needs an attempt of its own. */
  readonly isSpent: boolean;
}

export type FullQueueAnswer =
  | { readonly kind: 'wait'; readonly delayMs: number }
  /** Two smaller shards stand in the shard's place. */
  | { readonly kind: 'split' }
  | { readonly kind: 'give_up' };

/**
 * Marks the account's queue as full and lets the shard wait for its turn, fails nothing. A shard that is too large for
 * the queue by itself is cut in two. One transaction: whoever comes next sees all of it.
 */
export async function answerFullQueue(
  dependencies: ActivityDependencies,
  refused: FullQueue,
): Promise<FullQueueAnswer> {
  const { db, now } = dependencies;
  const { job, attempt } = refused;
  return inTransaction(db, async (client): Promise<FullQueueAnswer> => {
    const at = now();
    const locked = await lockJobRow(client, job.jobId);
    const { closedAt } = await getAttempt(client, job.key, attempt.shard, attempt.attempt);
    // Answered by an earlier run, which did not live to tell.
    if (closedAt !== null) return { kind: 'wait', delayMs: 0 };
    const current = await getShard(client, job.key, attempt.shard);
    const waited = waitedMs(current, 'provider_capacity', at);
    const since = new Date(at.getTime() - waited);
    const shard = { ...current, waitingReason: 'provider_capacity', waitingSince: since };
    return answer(client, dependencies, { ...refused, job: locked, shard }, { at, waited });
  });
}

async function answer(
  client: pg.PoolClient,
  { settings, random }: ActivityDependencies,
  refused: FullQueue,
  { at, waited }: { readonly at: Date; readonly waited: number },
): Promise<FullQueueAnswer> {
  const { job, shard, attempt, words, retryAfterMs, sentAt, isSpent } = refused;
  const [key, own] = [accountOf(attempt, shard), keyOf(refused)];
  const account = await lockAccount(client, key);
  const isAgain = account.refusedShard?.jobUuid === own.jobUuid && account.refusedShard.shard === own.shard;
  const isAlone = wasAlone(account, await readUse(client, key, own), sentAt);
  const refusedAlone = isAlone ? (isAgain ? account.refusedAlone : 0) + 1 : 0;
  const limits = readQueueLimit(words);
  const known = {
    inputTokens: limits.inputTokens ?? account.limits.inputTokens,
    items: limits.items ?? account.limits.items,
  };
  const outcome = isSpent ? null : 'refused';
  const full = { at, reason: words.slice(0, MAX_REASON_CHARS), limits };
  if (isTooLarge(attempt, refusedAlone, known) && (await splitShard(client, job, shard, at))) {
    await closeAttempt(client, job.key, attempt, { outcome, now: at });
    await recordFull(client, key, { ...full, probeAt: at, refusedShard: null, refusedAlone: 0 });
    return { kind: 'split' };
  }
  const hasRoomSince = retryAfterMs === null && account.roomAt !== null && account.roomAt >= sentAt;
  const { capacityRetryMs: firstDelayMs } = settings;
  const delayMs = hasRoomSince ? 0 : resendDelay({ waitedMs: waited, firstDelayMs, retryAfterMs, random01: random() });
  const probeAt = new Date(at.getTime() + delayMs);
  await recordFull(client, key, { ...full, probeAt, refusedShard: isAlone ? own : null, refusedAlone });
  const isOver = waited >= settings.capacityWaitMs;
  if (isSpent || isOver) await closeAttempt(client, job.key, attempt, { outcome, now: at });
  else await giveRoomBack(client, job.key, attempt);
  const waiting = 'provider_capacity';
  await moveShard(client, job, shard.shard, { state: 'waiting', waiting, nextPollAt: probeAt, now: at });
  return isOver ? { kind: 'give_up' } : { kind: 'wait', delayMs };
}

/** Where the queue is of items, they are counted: a shard within the limit is kept out by what others have in it. */
function isTooLarge(
  { itemCount, estimatedInputTokens }: AttemptRow,
  refusedAlone: number,
  { inputTokens: limitTokens, items: limitItems }: NamedQueueLimit,
): boolean {
  if (limitItems !== null && limitTokens === null) return refusedAlone > 0 && itemCount > limitItems;
  return isTooLargeForQueue({ refusedAlone, inputTokens: estimatedInputTokens, limitTokens });
}

const MAX_REASON_CHARS = 500;
