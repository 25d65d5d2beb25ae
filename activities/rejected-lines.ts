import type { AttemptRow } from '../db/attempts.ts';
import type { Database } from '../db/client.ts';
import type { JobRow } from '../db/job-rows.ts';
import { findItemOnLine } from '../db/open-items.ts';
import type { ShardRow } from '../db/shards.ts';
import { failureClassOf } from '../domain/failure.ts';
import { FAILURE_MESSAGES } from '../domain/failure-messages.ts';
import { settleRemainder } from '../ledger/settle.ts';
import type { NativeBatch } from '../providers/provider.ts';

/**
 * Items on lines that the provider's validation named fail alone: a batch with one bad line ran none of the others.
 * Answers how many lines name an item, on every repeat the same.
 */
export async function settleRejectedLines(
  db: Database,
  { job, shard, attempt }: { readonly job: JobRow; readonly shard: ShardRow; readonly attempt: AttemptRow },
  batch: NativeBatch,
): Promise<{ readonly named: number; readonly settled: number }> {
  if (batch.end !== 'failed' || batch.capacityRefused) return { named: 0, settled: 0 };
  let [named, settled] = [0, 0];
  for (const { line, code, message, param } of batch.validationErrors) {
    const itemNo =
      line === null || line < 1
        ? null
        : await findItemOnLine(db.pool, job.key, shard, { attempt: attempt.attempt, line });
    if (itemNo === null) continue;
    named += 1;
    const range = { job, shard, attempt: attempt.attempt, firstItemNo: itemNo, lastItemNo: itemNo };
    settled += await settleRemainder(db, range, {
      state: 'failed',
      failureClass: failureClassOf('invalid_request'),
      code: 'invalid_request',
      message: FAILURE_MESSAGES.invalid_request,
      nativeError: JSON.stringify({ type: null, code, status: null, message, param }),
    });
  }
  return { named, settled };
}
