import { type AttemptRow, closeAttempt } from '../db/attempts.ts';
import type { Database } from '../db/client.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { moveShard } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';

/** Moves a shard under its job's lock, in a transaction of its own, and closes an attempt with it where one is done with. */
export async function recordMove(
  db: Database,
  job: JobRow,
  shard: number,
  to: Parameters<typeof moveShard>[3],
  closing: AttemptRow | null = null,
): Promise<void> {
  await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    if (closing !== null) await closeAttempt(client, job.key, closing, { outcome: null, now: to.now });
    await moveShard(client, locked, shard, to);
  });
}
