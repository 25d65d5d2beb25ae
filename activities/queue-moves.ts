import type pg from 'pg';
import type { AttemptRow } from '../db/attempts.ts';
import { accountOf, lockAccount, openQueue, recordQueued } from '../db/capacity-accounts.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { ShardRow } from '../db/shards.ts';
import { findFirstInQueue } from '../db/waiting-shards.ts';
import type { NativeBatch } from '../providers/provider.ts';

/**
 * Notes that a batch has got into the provider's queue, or has left it: either tells those that wait that there may be
 * room. True when one of them is to be woken once the transaction is over. The job's row must be locked.
 */
export async function noteQueueMove(
  client: pg.PoolClient,
  { job, shard, attempt }: { readonly job: JobRow; readonly shard: ShardRow; readonly attempt: AttemptRow },
  { phase, capacityRefused }: Pick<NativeBatch, 'phase' | 'capacityRefused'>,
  at: Date,
): Promise<boolean> {
  if (phase === 'validating' || capacityRefused) return false;
  const isNew = await recordQueued(client, job.key, attempt, at);
  const left = phase === 'ended' && attempt.endedAt === null;
  if (!isNew && !left) return false;
  const key = accountOf(attempt, shard);
  const { fullSince, lastRefusedAt } = await lockAccount(client, key);
  // A batch that was sent before the last refusal says nothing of the room there has been since.
  const isNews = fullSince !== null && (lastRefusedAt === null || (attempt.createStartedAt ?? at) > lastRefusedAt);
  if (!left && !isNews) return false;
  const first = await findFirstInQueue(client, key, { jobUuid: job.key.uuid, shard: shard.shard }, at);
  await openQueue(client, key, { at, left, isAwaited: first !== null });
  return first !== null;
}
