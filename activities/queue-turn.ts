import type pg from 'pg';
import { type AttemptRow, closeAttempt } from '../db/attempts.ts';
import { type AccountKey, accountOf, lockAccount, readUse, type ShardKey, takeRoom } from '../db/capacity-accounts.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { getShard, moveShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { findFirstInQueue, findFirstToCreate, readPlace } from '../db/waiting-shards.ts';
import { mayTakeRoom, nextTurnDelay, type QueueSituation } from '../domain/capacity.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { SubmitResult } from './interfaces.ts';
import { waitedMs } from './waiting.ts';

/** An attempt about to be sent. */
interface Sending {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
}

/**
 * Takes room in the provider's queue for the attempt, before anything is built or uploaded for it. Null when it has
 * some; else the shard waits, visibly, and is woken when its turn comes.
 */
export async function takeTurn(dependencies: ActivityDependencies, sending: Sending): Promise<SubmitResult | null> {
  const { job, shard, attempt } = sending;
  if (attempt.roomTakenAt !== null) return null;
  const result = await inTransaction(dependencies.db, async (client) => {
    const at = dependencies.now();
    const locked = await lockJobRow(client, job.jobId);
    // What it waits for may have changed since it was read.
    const current = { ...sending, shard: await getShard(client, job.key, shard.shard) };
    const situation = await readSituation(client, dependencies, current, at);
    if (!mayTakeRoom(situation)) return wait(client, dependencies, { ...current, job: locked }, situation);
    await takeRoom(client, job.key, attempt, at);
    return null;
  });
  // Where there is room for one there may be room for the next.
  if (result === null) await wakeNext(dependencies, accountOf(attempt, shard), keyOf(sending));
  return result;
}

async function readSituation(
  client: pg.PoolClient,
  { catalogue }: ActivityDependencies,
  { job, shard, attempt }: Sending,
  at: Date,
): Promise<QueueSituation> {
  const key = accountOf(attempt, shard);
  const own = { jobUuid: job.key.uuid, shard: shard.shard };
  const account = await lockAccount(client, key);
  const published = catalogue.findCapability(shard.provider, job.endpoint, shard.providerModel)?.limits;
  return {
    account,
    hints: {
      inputTokens: published?.maxQueuedTokens ?? null,
      items: published?.maxQueuedItems ?? null,
      batches: published?.maxConcurrentBatches ?? null,
    },
    others: await readUse(client, key, own),
    shard: {
      items: attempt.itemCount,
      inputTokens: attempt.estimatedInputTokens,
      waitedMs: waitedMs(shard, 'provider_capacity', at),
      ...(await readPlace(client, key, own, at)),
    },
    at,
  };
}

async function wait(
  client: pg.PoolClient,
  { settings, random }: ActivityDependencies,
  { job, shard, attempt }: Sending,
  situation: QueueSituation,
): Promise<SubmitResult> {
  const { at } = situation;
  const delayMs = nextTurnDelay(situation, { capacityRetryMs: settings.capacityRetryMs, random01: random() });
  const isOver = situation.shard.waitedMs >= settings.capacityWaitMs;
  if (isOver) await closeAttempt(client, job.key, attempt, { outcome: 'not_sent', now: at });
  await moveShard(client, job, shard.shard, {
    state: 'waiting',
    waiting: 'provider_capacity',
    nextPollAt: new Date(at.getTime() + delayMs),
    now: at,
  });
  return { kind: 'wait', reason: 'provider_capacity', delayMs, giveUp: isOver ? 'capacity_exhausted' : null };
}

/**
 * Wakes the shard that has waited longest for room in this queue, and the one that has waited longest to create under
 * this credential. Each looks at the rows and decides for itself; a signal that is lost costs no more than its timer.
 */
export async function wakeNext(dependencies: ActivityDependencies, account: AccountKey, but: ShardKey): Promise<void> {
  const { db, now } = dependencies;
  const at = now();
  const inQueue = await findFirstInQueue(db.pool, account, but, at);
  const toCreate = await findFirstToCreate(db.pool, account, but, at);
  await wakeShards(
    dependencies,
    [inQueue, toCreate].filter((found) => found !== null),
  );
}

/** Each looks at the rows and decides for itself; one that cannot be told looks by itself, later. */
export async function wakeShards(
  { workflows, log }: Pick<ActivityDependencies, 'workflows' | 'log'>,
  shards: readonly { readonly jobId: string; readonly shard: number }[],
): Promise<void> {
  for (const { jobId, shard } of shards) {
    try {
      await workflows.wakeShard(jobId, shard);
    } catch {
      log.warn({ jobId, shard }, 'a waiting shard could not be woken');
    }
  }
}

export function keyOf({ job, shard }: Pick<Sending, 'job' | 'shard'>): ShardKey {
  return { jobUuid: job.key.uuid, shard: shard.shard };
}
