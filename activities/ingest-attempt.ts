import { getAttempt } from '../db/attempts.ts';
import { findJobPricing } from '../db/customer-pricing.ts';
import { getJobRow } from '../db/job-rows.ts';
import { clearStage } from '../db/result-stage.ts';
import { getShard } from '../db/shards.ts';
import { loadTargetPrices } from '../db/target-prices.ts';
import { settleStaged } from '../ledger/settle.ts';
import { endedBatch } from '../providers/ended-batch.ts';
import type { NativeBatch } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { decideNext, recordWarnings } from './after-ingest.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { disownForeignBatch } from './foreign-batch.ts';
import { beat, cancellationSignal, whileBeating } from './heartbeats.ts';
import type { ProviderActivities } from './interfaces.ts';
import type { Reading } from './reading.ts';
import { settleRejectedLines } from './rejected-lines.ts';
import { settleRanges } from './settle-ranges.ts';
import { isGone, takeFiles } from './take-lines.ts';
import { answerUnread } from './unread-results.ts';
import { DENIALS } from './waiting.ts';

const NOTHING_TO_READ = {
  next: 'resubmit',
  delayMs: 0,
  waiting: null,
  settled: 0,
  remaining: 0,
  unmatched: 0,
} as const;

/**
 * Brings an ended batch home in two phases: lines that completed settle as they are read, then those that wait in the
 * stage, by item ranges. Both may be repeated from the start at any time; what has settled stays as it is.
 */
export function createIngestAttempt(dependencies: ActivityDependencies): ProviderActivities['ingestAttempt'] {
  const { db, now, log } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
    // Taken from the attempt by an earlier run, which did not live to tell: the rows say what comes next.
    if (attempt.providerBatchId === null || shard.givenUpAt !== null) return NOTHING_TO_READ;
    const at = now();
    const reading = {
      job,
      shard,
      attempt,
      provider: await dependencies.providers.of(attempt.provider, attempt.credentialId),
      target: (await loadTargetPrices(db.pool, { ...job, uuid: job.key.uuid }))(shard),
      customerPricing: await findJobPricing(db.pool, job.key),
      no: ref.reading ?? 1,
      sinceEndMs: at.getTime() - (attempt.endedAt ?? at).getTime(),
      staged: new Map(),
    };
    try {
      const batch = await retrieveEnded(dependencies, reading);
      // A download that hangs must still hear that it is not wanted any more.
      const counts = await whileBeating(() => takeFiles(dependencies, reading, batch));
      const disowned = await disownForeignBatch(dependencies, reading, counts);
      if (disowned !== null) return disowned;
      const settled = counts.settled + (await settleStage(dependencies, reading));
      const rejected = await settleRejectedLines(db, reading, batch);
      await clearStage(db, attempt.attemptNo);
      const result = await decideNext(dependencies, reading, batch, {
        settled: settled + rejected.settled,
        rejectedLines: rejected.named,
        unmatched: counts.unmatched,
      });
      if (result.next !== 'again') await recordWarnings(dependencies, reading, batch, counts);
      log.info(
        {
          jobId: ref.jobId,
          shard: ref.shard,
          attempt: ref.attempt,
          ...counts,
          settled,
          remaining: result.remaining,
          next: result.next,
        },
        'results ingested',
      );
      return result;
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
      const answer = await answerUnread(dependencies, reading, error);
      // A caller that knows no such answer has the call itself repeated.
      if (answer.next === 'retry' && ref.mayRetry !== true) throw error;
      return answer;
    }
  };
}

/**
 * The batch as it is now; as the last poll saw it where the answer is older than that poll, or where the provider has
 * denied the batch for as long as a lost one.
 */
async function retrieveEnded(dependencies: ActivityDependencies, reading: Reading): Promise<NativeBatch> {
  const { attempt, provider } = reading;
  const providerBatchId = attempt.providerBatchId ?? '';
  try {
    const batch = await provider.retrieveBatch({ providerBatchId, signal: cancellationSignal() });
    return batch.phase === 'ended' ? batch : endedBatch(attempt);
  } catch (error) {
    if (isGone(dependencies, reading, error, DENIALS)) return endedBatch(attempt);
    throw error;
  }
}

async function settleStage({ db }: ActivityDependencies, reading: Reading): Promise<number> {
  const { job, shard, attempt, staged } = reading;
  let settled = 0;
  for (const [index, items] of settleRanges(shard).entries()) {
    beat();
    const range = { job, shard, attempt: attempt.attempt, ...items };
    settled += await settleStaged(db, range, attempt.attemptNo, staged.get(index) ?? 0);
  }
  return settled;
}
