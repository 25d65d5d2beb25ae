import { type AttemptRow, recordAccepted } from '../db/attempts.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { recordProviderWindow } from '../db/provider-window.ts';
import { getShard, moveShard } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { appendEntry } from '../ledger/entries.ts';
import type { NativeBatch } from '../providers/provider.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { waitingAfterAnswer } from './waiting.ts';

/** Records that the provider has the batch, with all that follows for the job; the first record stands. */
export async function acceptBatch(
  { db, now, log }: ActivityDependencies,
  { job, attempt, batch }: { job: JobRow; attempt: AttemptRow; batch: NativeBatch },
): Promise<void> {
  const at = now();
  await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    const first = await recordAccepted(client, job.key, attempt, { ...batch, now: at });
    if (!first) return;
    await recordProviderWindow(client, job.key, {
      provider: attempt.provider,
      expiresAt: batch.expiresAt,
      acceptedAt: at,
    });
    await appendEntry(client, job.key, {
      itemNo: 0,
      event: 'batch.submitted',
      ordinal: job.submissionNo,
      amount: 0n,
      actor: 'gateway',
      cause: 'first_accepted_create',
    });
    const waiting = waitingAfterAnswer(await getShard(client, job.key, attempt.shard), batch);
    await moveShard(client, locked, attempt.shard, { state: 'submitted', ...waiting, now: at });
  });
  log.info(
    { jobId: job.jobId, shard: attempt.shard, attempt: attempt.attempt, provider: attempt.provider },
    'batch accepted',
  );
}
