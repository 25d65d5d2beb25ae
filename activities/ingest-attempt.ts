import { getAttempt } from '../db/attempts.ts';
import { findJobPricing } from '../db/customer-pricing.ts';
import { getJobRow } from '../db/job-rows.ts';
import { readEstimates } from '../db/open-items.ts';
import { clearStage, stageLines } from '../db/result-stage.ts';
import { getShard } from '../db/shards.ts';
import { loadTargetPrices } from '../db/target-prices.ts';
import { clearUnmatchedLines, insertUnmatchedLines } from '../db/unmatched-lines.ts';
import { customerAmount } from '../domain/customer-pricing.ts';
import { isLastReading } from '../domain/ingest-decision.ts';
import type { Amount } from '../domain/money.ts';
import type { Usage } from '../domain/usage.ts';
import { settleStaged } from '../ledger/settle.ts';
import { splitLineBatches } from '../providers/jsonl.ts';
import type { NativeBatch, ResultFile } from '../providers/provider.ts';
import { ProviderError, type ProviderErrorCode } from '../providers/provider-error.ts';
import { decideNext, recordWarnings } from './after-ingest.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { disownForeignBatch } from './foreign-batch.ts';
import { beat, cancellationSignal } from './heartbeats.ts';
import { findHeldReplies } from './held-replies.ts';
import type { ProviderActivities } from './interfaces.ts';
import { asLastPolled } from './last-polled.ts';
import { getProvider } from './providers.ts';
import { itemsWithoutUsage, type MatchedLine, matchLines, toStagedLine } from './read-results.ts';
import type { Counts, Reading } from './reading.ts';
import { recordMove } from './record-move.ts';
import { settleRejectedLines } from './rejected-lines.ts';
import { settleRangeOf, settleRanges } from './settle-ranges.ts';
import { DENIALS } from './waiting.ts';

/** A line longer than this is no result of ours: kept as unmatched. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CHUNK_LINES = 10_000;
/** Answers may be long: what waits to be copied is bounded by size too. */
const CHUNK_CHARS = 2_000_000;
/** COPYs under way beside the parser. */
const COPIES_AT_ONCE = 2;

const NOTHING_TO_READ = {
  next: 'resubmit',
  delayMs: 0,
  waiting: null,
  settled: 0,
  remaining: 0,
  unmatched: 0,
} as const;

/**
 * Brings an ended batch home in two phases: every line into the stage, then settlement by item ranges. Both may be
 * repeated from the start at any time; what has settled stays as it is.
 */
export function createIngestAttempt(dependencies: ActivityDependencies): ProviderActivities['ingestAttempt'] {
  const { db, now, log } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
    const provider = getProvider(dependencies.providers, shard.provider);
    const price = (await loadTargetPrices(db.pool, { ...job, uuid: job.key.uuid }))(shard);
    const customerPricing = await findJobPricing(db.pool, job.key);
    const at = now();
    const sinceEndMs = at.getTime() - (attempt.endedAt ?? at).getTime();
    const reading = {
      job,
      shard,
      attempt,
      provider,
      price,
      uncapped: await findHeldReplies(db, { job, shard, price }),
      customerPricing,
      no: ref.reading ?? 1,
      sinceEndMs,
      staged: new Map(),
    };
    // Taken from the attempt by an earlier run, which did not live to tell: the rows say what comes next.
    if (attempt.providerBatchId === null) return NOTHING_TO_READ;
    try {
      const batch = await retrieveEnded(dependencies, reading);
      const counts = await stageFiles(dependencies, reading, batch);
      const disowned = await disownForeignBatch(dependencies, reading, counts);
      if (disowned !== null) return disowned;
      const settled = await settleStage(dependencies, reading);
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
      if (error instanceof ProviderError && error.code !== 'aborted') await showTrouble(dependencies, reading, error);
      throw error;
    }
  };
}

/** The failure is retried for as long as it takes; meanwhile the job says why its results do not come in. */
async function showTrouble(
  { db, now }: ActivityDependencies,
  reading: Reading,
  { code }: ProviderError,
): Promise<void> {
  const waiting = code === 'credential_refused' ? 'credential_refused' : 'provider_trouble';
  await recordMove(db, reading.job, reading.shard.shard, { state: 'ingesting', waiting, now: now() });
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
    return batch.phase === 'ended' ? batch : asLastPolled(attempt);
  } catch (error) {
    if (isGone(dependencies, reading, error, DENIALS)) return asLastPolled(attempt);
    throw error;
  }
}

async function stageFiles(dependencies: ActivityDependencies, reading: Reading, batch: NativeBatch): Promise<Counts> {
  const counts: Counts = { completed: 0, failed: 0, matched: 0, unmatched: 0, foreign: 0 };
  await clearStage(dependencies.db, reading.attempt.attemptNo);
  await clearUnmatchedLines(dependencies.db.pool, reading.job.key, reading.attempt);
  for (const [index, file] of reading.provider.resultFiles(batch).entries()) {
    try {
      await stageFile(dependencies, reading, file, index + 1, counts);
    } catch (error) {
      if (!isGone(dependencies, reading, error, ['not_found'])) throw error;
      dependencies.log.warn(
        { jobId: reading.job.jobId, shard: reading.shard.shard, file: file.kind },
        'result file is gone',
      );
    }
  }
  return counts;
}

/** A file may be late; what the provider has denied for as long as a lost batch will not come. */
function isGone(
  { now, settings }: ActivityDependencies,
  { attempt }: Reading,
  error: unknown,
  denials: readonly ProviderErrorCode[],
): boolean {
  if (!(error instanceof ProviderError) || !denials.includes(error.code)) return false;
  return now().getTime() - (attempt.endedAt ?? now()).getTime() >= settings.providerLostAfterMs;
}

async function stageFile(
  { db, settings }: ActivityDependencies,
  reading: Reading,
  file: ResultFile,
  fileNo: number,
  counts: Counts,
): Promise<void> {
  const { attempt, provider, job } = reading;
  // What may be the fault of this one download is settled only when no better reading can be hoped for.
  const isLast = isLastReading(reading, settings);
  const copies = new Set<Promise<void>>();
  let chunk: MatchedLine[] = [];
  let chars = 0;
  const flush = async (): Promise<void> => {
    const lines = chunk;
    chunk = [];
    chars = 0;
    if (copies.size >= COPIES_AT_ONCE) await Promise.race(copies);
    const copy = stageChunk(db, reading, lines, fileNo).finally(() => copies.delete(copy));
    copies.add(copy);
    // Looked at again below; until then a failed copy must not end the process.
    copy.catch(() => undefined);
  };
  const source = provider.downloadFile({ file, signal: cancellationSignal() });
  for await (const lines of splitLineBatches(source, { maxLineBytes: MAX_LINE_BYTES })) {
    beat();
    const { matched, unmatched, foreign } = matchLines(provider, reading, lines);
    counts.matched += matched.length;
    counts.unmatched += unmatched.length;
    counts.foreign += foreign;
    await insertUnmatchedLines(
      db.pool,
      job.key,
      attempt,
      unmatched.map((line) => ({ ...line, file: fileNo })),
    );
    for (const line of matched) {
      if (line.result.kind === 'completed') counts.completed += 1;
      if (line.result.kind === 'failed') counts.failed += 1;
      if (!line.isReadable && !isLast) continue;
      chunk.push(line);
      chars += line.result.kind === 'completed' ? line.result.body.length : 0;
      if (chunk.length >= CHUNK_LINES || chars >= CHUNK_CHARS) await flush();
    }
  }
  await flush();
  await Promise.all(copies);
}

async function stageChunk(
  db: ActivityDependencies['db'],
  { job, shard, attempt, price, uncapped, customerPricing, staged }: Reading,
  lines: readonly MatchedLine[],
  fileNo: number,
): Promise<void> {
  const missing = itemsWithoutUsage(lines);
  const estimates = missing.length === 0 ? null : await readEstimates(db.pool, job.key, missing, uncapped);
  const target = { provider: shard.provider, model: shard.providerModel };
  const priceForCustomer =
    customerPricing === null
      ? null
      : (usage: Usage, amount: Amount) => customerAmount(customerPricing, target, usage, amount);
  const rows = lines.map((line) =>
    toStagedLine(line, fileNo, {
      price,
      model: shard.providerModel,
      estimate: estimates?.get(line.itemNo),
      priceForCustomer,
    }),
  );
  await stageLines(db, attempt.attemptNo, rows);
  for (const { itemNo } of lines) {
    const range = settleRangeOf(shard, itemNo);
    staged.set(range, (staged.get(range) ?? 0) + 1);
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
