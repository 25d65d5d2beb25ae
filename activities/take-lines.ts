import { readEstimates } from '../db/open-items.ts';
import { clearStage, type StagedLine, stageLines } from '../db/result-stage.ts';
import { clearUnmatchedLines, insertUnmatchedLines } from '../db/unmatched-lines.ts';
import { customerAmount } from '../domain/customer-pricing.ts';
import { isLastReading } from '../domain/ingest-decision.ts';
import type { Amount } from '../domain/money.ts';
import { keepsContent } from '../domain/storage-terms.ts';
import type { Usage } from '../domain/usage.ts';
import { settleCompleted } from '../ledger/settle-completed.ts';
import { MAX_LINE_BYTES, splitLineBatches } from '../providers/jsonl.ts';
import type { NativeBatch, ResultFile } from '../providers/provider.ts';
import { ProviderError, type ProviderErrorCode } from '../providers/provider-error.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { endAnswered } from './documents/end-answered.ts';
import { beat, cancellationSignal } from './heartbeats.ts';
import { keepArtifact } from './keep-artifact.ts';
import { itemsWithoutUsage, type MatchedLine, matchLines, toStagedLine } from './read-results.ts';
import type { Counts, Reading } from './reading.ts';
import { settleRangeOf } from './settle-ranges.ts';

const CHUNK_LINES = 10_000;
/** Answers may be long: what waits to be written is bounded by size too. */
const CHUNK_CHARS = 4_000_000;

/**
 * Reads every result file of an ended batch: lines that completed settle as they come, all others wait in the stage for the
 * end, for a better line of the item may follow.
 */
export async function takeFiles(
  dependencies: ActivityDependencies,
  reading: Reading,
  batch: NativeBatch,
): Promise<Counts> {
  const counts: Counts = { completed: 0, failed: 0, matched: 0, unmatched: 0, foreign: 0, settled: 0 };
  await clearStage(dependencies.db, reading.attempt.attemptNo);
  await clearUnmatchedLines(dependencies.db.pool, reading.job.key, reading.attempt);
  for (const [index, file] of reading.provider.resultFiles(batch).entries()) {
    try {
      await takeFile(dependencies, reading, file, index + 1, counts);
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
export function isGone(
  { now, settings }: ActivityDependencies,
  { attempt }: Reading,
  error: unknown,
  denials: readonly ProviderErrorCode[],
): boolean {
  if (!(error instanceof ProviderError) || !denials.includes(error.code)) return false;
  return now().getTime() - (attempt.endedAt ?? now()).getTime() >= settings.providerLostAfterMs;
}

async function takeFile(
  dependencies: ActivityDependencies,
  reading: Reading,
  file: ResultFile,
  fileNo: number,
  counts: Counts,
): Promise<void> {
  const { db, settings } = dependencies;
  const { attempt, provider, job } = reading;
  // What may be the fault of this one download is settled only when no better reading can be hoped for.
  const isLast = isLastReading(reading, settings);
  let written = Promise.resolve();
  let chunk: MatchedLine[] = [];
  let chars = 0;
  /** One chunk is written while the next is parsed; in their order, for the first of doubled lines counts. */
  const flush = async (): Promise<void> => {
    const lines = chunk;
    chunk = [];
    chars = 0;
    await written;
    written = takeChunk(dependencies, reading, lines, fileNo, counts);
    // Looked at by the next flush; until then a failed write must not end the process.
    written.catch(() => undefined);
  };
  const download = provider.downloadFile({ file, signal: cancellationSignal() });
  const source = keepArtifact(dependencies, { job, attempt, file, fileNo }, download);
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
  await written;
}

async function takeChunk(
  dependencies: ActivityDependencies,
  reading: Reading,
  matched: readonly MatchedLine[],
  fileNo: number,
  counts: Counts,
): Promise<void> {
  const { db } = dependencies;
  const { job, shard, attempt, staged } = reading;
  const lines = await priceLines(db, reading, matched, fileNo);
  const completed = lines.filter(({ rank }) => rank === 0);
  const others = lines.filter(({ rank }) => rank !== 0);
  const alongside = job.kind === 'document' ? await endAnswered(dependencies, job, matched) : null;
  counts.settled += await settleCompleted(db, { job, shard, attempt: attempt.attempt }, completed, alongside);
  await stageLines(db, attempt.attemptNo, others);
  for (const { itemNo } of others) {
    const range = settleRangeOf(shard, itemNo);
    staged.set(range, (staged.get(range) ?? 0) + 1);
  }
}

async function priceLines(
  db: ActivityDependencies['db'],
  { job, shard, target: { price, heldReplies }, customerPricing }: Reading,
  matched: readonly MatchedLine[],
  fileNo: number,
): Promise<StagedLine[]> {
  const missing = itemsWithoutUsage(matched);
  const estimates = missing.length === 0 ? null : await readEstimates(db.pool, job.key, missing, heldReplies);
  const target = { provider: shard.provider, model: shard.providerModel };
  const priceForCustomer =
    customerPricing === null
      ? null
      : (usage: Usage, amount: Amount) =>
          customerAmount(customerPricing, target, { usage, amount, mode: job.priceMode });
  return matched.map((line) =>
    toStagedLine(line, fileNo, {
      price,
      priceMode: job.priceMode,
      model: shard.providerModel,
      estimate: estimates?.get(line.itemNo),
      priceForCustomer,
      keepsContent: keepsContent(job.terms.storage),
    }),
  );
}
