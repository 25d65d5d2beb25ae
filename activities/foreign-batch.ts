import { disownBatch } from '../db/creates.ts';
import { lockJobRow } from '../db/job-rows.ts';
import { countOpenItems, moveShard } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordIngestWarnings } from '../db/unmatched-lines.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { IngestResult } from './interfaces.ts';
import type { Counts, Reading } from './reading.ts';

/**
 * Where batches carry no label, the one that was found for an unanswered create may turn out to be another's: its lines
 * carry that one's token, and none carries this attempt's. Nothing settles by it and nothing is sent anew: the attempt
 * is once more one whose batch is looked for, with this one out of the question. Null for every other batch.
 */
export async function disownForeignBatch(
  { db, catalogue, now, log }: ActivityDependencies,
  { job, shard, attempt }: Reading,
  { matched, foreign, unmatched }: Counts,
): Promise<IngestResult | null> {
  if (!attempt.foundByLook || matched > 0 || foreign === 0) return null;
  const capability = catalogue.findCapability(shard.provider, job.endpoint, shard.providerModel);
  if (capability?.sizesDiffer === false) return null;
  const at = now();
  const message = `Batch ${attempt.providerBatchId}, found for this shard, holds the results of another. It is looked for again.`;
  await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    const errors = [{ code: 'foreign_batch', status: null, message, at }];
    if (!(await disownBatch(client, job.key, attempt, errors))) return;
    const waiting = 'confirming_submission';
    await moveShard(client, locked, shard.shard, { state: 'indeterminate', waiting, now: at });
    const shown = 'The batch found for an unanswered create was not its own. The right one is looked for.';
    await recordIngestWarnings(client, job.key, [{ code: 'foreign_batch', shard: shard.shard, message: shown }]);
  });
  log.warn({ jobId: job.jobId, shard: shard.shard, attempt: attempt.attempt, foreign }, 'a found batch was foreign');
  const remaining = await countOpenItems(db.pool, job.key, shard);
  return { next: 'resubmit', delayMs: 0, waiting: 'confirming_submission', settled: 0, remaining, unmatched };
}
