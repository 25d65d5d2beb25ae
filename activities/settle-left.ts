import type { AttemptRow } from '../db/attempts.ts';
import type { Database } from '../db/client.ts';
import type { JobRow } from '../db/job-rows.ts';
import { clearStage, countStaged } from '../db/result-stage.ts';
import type { ShardRow } from '../db/shards.ts';
import { settleStaged } from '../ledger/settle.ts';
import { beat } from './heartbeats.ts';
import { settleRanges } from './settle-ranges.ts';

/**
 * Settles the lines that a reading which was given up had put into the stage: the provider bills what they say. Those
 * that completed settled as they were read.
 */
export async function settleWhatWasRead(
  db: Database,
  { job, shard, attempt }: { readonly job: JobRow; readonly shard: ShardRow; readonly attempt: AttemptRow },
): Promise<void> {
  for (const items of settleRanges(shard)) {
    beat();
    const staged = await countStaged(db, attempt.attemptNo, items);
    if (staged > 0)
      await settleStaged(db, { job, shard, attempt: attempt.attempt, ...items }, attempt.attemptNo, staged);
  }
  await clearStage(db, attempt.attemptNo);
}
