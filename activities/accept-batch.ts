import { type AttemptRow, recordAccepted } from '../db/attempts.ts';
import { accountOf } from '../db/capacity-accounts.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { recordProviderWindow } from '../db/provider-window.ts';
import { beginShardDocuments } from '../db/run-documents.ts';
import { getShard, moveShard } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { appendEntry } from '../ledger/entries.ts';
import type { NativeBatch } from '../providers/provider.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { noteQueueMove } from './queue-moves.ts';
import { keyOf, wakeNext } from './queue-turn.ts';
import { waitingAfterAnswer } from './waiting.ts';

/** Of a model the catalogue has forgotten since the job was admitted: its batch is paid for, so it is kept hold of. */
const UNKNOWN_LIFETIME = { windowHours: 24, resultRetentionDays: 1 };

/** Records that the provider has the batch, with all that follows for the job; the first record stands. */
export async function acceptBatch(
  dependencies: ActivityDependencies,
  accepted: { job: JobRow; attempt: AttemptRow; batch: NativeBatch; foundByLook?: boolean },
): Promise<void> {
  const { db, catalogue, now, log } = dependencies;
  const { job, attempt, batch, foundByLook = false } = accepted;
  const at = now();
  const shard = await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    const shard = await getShard(client, job.key, attempt.shard);
    const first = await recordAccepted(client, job.key, attempt, { ...batch, foundByLook, now: at });
    if (!first) return shard;
    const capability = catalogue.findCapability(attempt.provider, attempt.endpoint, shard.providerModel);
    await recordProviderWindow(client, job.key, {
      lifetime: capability?.lifetime ?? UNKNOWN_LIFETIME,
      expiresAt: batch.expiresAt,
      acceptedAt: at,
    });
    await appendEntry(client, job.key, {
      itemNo: 0,
      act: 'submitted',
      ordinal: job.submissionNo,
      amount: 0n,
      actor: 'gateway',
      cause: 'first_accepted_create',
    });
    const waiting = waitingAfterAnswer(shard, batch);
    await moveShard(client, locked, attempt.shard, { state: 'submitted', ...waiting, now: at });
    if (job.kind === 'document') await beginShardDocuments(client, job.key.uuid, shard, at);
    // Its end is the next poll's to note.
    if (batch.phase !== 'ended') await noteQueueMove(client, { job, shard, attempt }, batch, at);
    return shard;
  });
  await wakeNext(dependencies, accountOf(attempt, shard), keyOf({ job, shard }));
  log.info(
    { jobId: job.jobId, shard: attempt.shard, attempt: attempt.attempt, provider: attempt.provider },
    'batch accepted',
  );
}
