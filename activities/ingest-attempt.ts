import { ApplicationFailure } from '@temporalio/activity';
import { type AttemptRow, closeAttempt, getAttempt } from '../db/attempts.ts';
import { getJobRow, type JobRow, lockJobRow } from '../db/job-rows.ts';
import { findOpenItemOnLine, readEstimates } from '../db/open-items.ts';
import { clearStage, stageLines } from '../db/result-stage.ts';
import { countOpenItems, getShard, moveShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { type IngestWarning, insertUnmatchedLines, recordIngestWarnings } from '../db/unmatched-lines.ts';
import { failure } from '../domain/failure.ts';
import { FAILURE_MESSAGES } from '../domain/failure-messages.ts';
import { decideAfterIngest } from '../domain/ingest-decision.ts';
import { findPrice } from '../domain/price-book.ts';
import type { PriceRow } from '../domain/price-row.ts';
import { settleRemainder, settleStaged } from '../ledger/settle.ts';
import { splitLineBatches } from '../providers/jsonl.ts';
import type { BatchProvider, NativeBatch, ResultFile } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat, cancellationSignal } from './heartbeats.ts';
import type { IngestResult, ProviderActivities } from './interfaces.ts';
import { getProvider } from './providers.ts';
import { itemsWithoutUsage, type MatchedLine, matchLines, toStagedLine } from './read-results.ts';
import { SETTLE_ITEMS } from './shard.ts';

/** A line longer than this is no result of ours: kept as unmatched. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CHUNK_LINES = 10_000;
/** COPYs under way beside the parser. */
const COPIES_AT_ONCE = 2;

interface Reading {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  readonly provider: BatchProvider;
  readonly price: PriceRow;
}

interface Counts {
  completed: number;
  failed: number;
  unmatched: number;
}

/**
 * Brings an ended batch home in two phases: every line into the stage, then settlement by item ranges. Both may be
 * repeated from the start at any time; what has settled stays as it is.
 */
export function createIngestAttempt(dependencies: ActivityDependencies): ProviderActivities['ingestAttempt'] {
  const { db, log } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
    const provider = getProvider(dependencies.providers, shard.provider);
    const price = job.submittedAt === null ? null : findPrice(shard.provider, shard.providerModel, job.submittedAt);
    if (price === null) throw new Error(`no price for ${shard.provider}/${shard.providerModel}`);
    const reading = { job, shard, attempt, provider, price };
    try {
      const batch = await provider.retrieveBatch({
        providerBatchId: attempt.providerBatchId ?? '',
        signal: cancellationSignal(),
      });
      const counts = await stageFiles(dependencies, reading, batch);
      const settled = await settleStage(dependencies, reading);
      const rejectedLines = await settleRejectedLines(dependencies, reading, batch);
      await clearStage(db, attempt.attemptNo);
      await recordWarnings(dependencies, reading, batch, counts);
      const result = await decide(dependencies, reading, batch, {
        settled: settled + rejectedLines,
        rejectedLines,
        unmatched: counts.unmatched,
      });
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
      throw toFailure(error);
    }
  };
}

/** A provider that is away is asked again, after its own hint where it gave one. */
function toFailure(error: unknown): unknown {
  if (!(error instanceof ProviderError) || error.code === 'aborted') return error;
  return ApplicationFailure.create({
    type: error.code,
    message: `provider: ${error.code}${error.status === null ? '' : ` (${error.status})`}`,
    ...(error.retryAfterMs === null ? {} : { nextRetryDelay: error.retryAfterMs }),
  });
}

async function stageFiles(dependencies: ActivityDependencies, reading: Reading, batch: NativeBatch): Promise<Counts> {
  const counts: Counts = { completed: 0, failed: 0, unmatched: 0 };
  await clearStage(dependencies.db, reading.attempt.attemptNo);
  for (const [index, file] of reading.provider.resultFiles(batch).entries()) {
    try {
      await stageFile(dependencies, reading, file, index + 1, counts);
    } catch (error) {
      if (!isGone(dependencies, reading, error)) throw error;
      dependencies.log.warn(
        { jobId: reading.job.jobId, shard: reading.shard.shard, file: file.kind },
        'result file is gone',
      );
    }
  }
  return counts;
}

/** A file may be late; one the provider has denied for as long as a lost batch will not come. */
function isGone({ now, settings }: ActivityDependencies, { attempt }: Reading, error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.code !== 'not_found') return false;
  return now().getTime() - (attempt.endedAt ?? now()).getTime() >= settings.providerLostAfterMs;
}

async function stageFile(
  { db }: ActivityDependencies,
  reading: Reading,
  file: ResultFile,
  fileNo: number,
  counts: Counts,
): Promise<void> {
  const { attempt, provider, job } = reading;
  const copies = new Set<Promise<void>>();
  let chunk: MatchedLine[] = [];
  const flush = async (): Promise<void> => {
    const lines = chunk;
    chunk = [];
    if (copies.size >= COPIES_AT_ONCE) await Promise.race(copies);
    const copy = stageChunk(db, reading, lines, fileNo).finally(() => copies.delete(copy));
    copies.add(copy);
    // Looked at again below; until then a failed copy must not end the process.
    copy.catch(() => undefined);
  };
  const source = provider.downloadFile({ file, signal: cancellationSignal() });
  for await (const lines of splitLineBatches(source, { maxLineBytes: MAX_LINE_BYTES })) {
    beat();
    const { matched, unmatched } = matchLines(provider, reading, lines);
    counts.unmatched += unmatched.length;
    await insertUnmatchedLines(
      db.pool,
      job.key,
      attempt,
      unmatched.map((line) => ({ ...line, file: fileNo })),
    );
    for (const line of matched) {
      if (line.result.kind === 'completed') counts.completed += 1;
      if (line.result.kind === 'failed') counts.failed += 1;
      chunk.push(line);
      if (chunk.length >= CHUNK_LINES) await flush();
    }
  }
  await flush();
  await Promise.all(copies);
}

async function stageChunk(
  db: ActivityDependencies['db'],
  { job, shard, attempt, price }: Reading,
  lines: readonly MatchedLine[],
  fileNo: number,
): Promise<void> {
  const missing = itemsWithoutUsage(lines);
  const estimates = missing.length === 0 ? null : await readEstimates(db.pool, job.key, missing);
  const staged = lines.map((line) =>
    toStagedLine(line, fileNo, { price, model: shard.providerModel, estimate: estimates?.get(line.itemNo) }),
  );
  await stageLines(db, attempt.attemptNo, staged);
}

async function settleStage({ db }: ActivityDependencies, { job, shard, attempt }: Reading): Promise<number> {
  let settled = 0;
  for (let firstItemNo = shard.firstItemNo; firstItemNo <= shard.lastItemNo; firstItemNo += SETTLE_ITEMS) {
    beat();
    const lastItemNo = Math.min(firstItemNo + SETTLE_ITEMS - 1, shard.lastItemNo);
    settled += await settleStaged(
      db,
      { job, shard, attempt: attempt.attempt, firstItemNo, lastItemNo },
      attempt.attemptNo,
    );
  }
  return settled;
}

/** Items on lines that the provider's validation named fail alone; a batch with one bad line ran none of the others. */
async function settleRejectedLines(
  { db }: ActivityDependencies,
  { job, shard, attempt }: Reading,
  batch: NativeBatch,
): Promise<number> {
  if (batch.end !== 'failed' || batch.capacityRefused) return 0;
  const named = batch.validationErrors.flatMap((error) =>
    error.line === null ? [] : [{ ...error, line: error.line }],
  );
  const found = await Promise.all(
    named.map(async (error) => ({ error, itemNo: await findOpenItemOnLine(db.pool, job.key, shard, error.line) })),
  );
  let settled = 0;
  for (const { error, itemNo } of found) {
    if (itemNo === null) continue;
    const { class: failureClass, code } = failure('invalid_request', FAILURE_MESSAGES.invalid_request);
    const nativeError = JSON.stringify({
      type: null,
      code: error.code,
      status: null,
      message: error.message,
      param: error.param,
    });
    const range = { job, shard, attempt: attempt.attempt, firstItemNo: itemNo, lastItemNo: itemNo };
    settled += await settleRemainder(db, range, {
      state: 'failed',
      failureClass,
      code,
      message: FAILURE_MESSAGES.invalid_request,
      nativeError,
    });
  }
  return settled;
}

async function recordWarnings(
  { db }: ActivityDependencies,
  { job, shard }: Reading,
  batch: NativeBatch,
  counts: Counts,
): Promise<void> {
  const warnings: IngestWarning[] = [];
  const { progress } = batch;
  if (progress !== null && (progress.completed !== counts.completed || progress.failed !== counts.failed)) {
    const message = `The provider counted ${progress.completed} completed and ${progress.failed} failed; its files hold ${counts.completed} and ${counts.failed}. The files count.`;
    warnings.push({ code: 'provider_counts_disagree', shard: shard.shard, message });
  }
  if (counts.unmatched > 0) {
    warnings.push({
      code: 'unmatched_lines',
      shard: shard.shard,
      message: `${counts.unmatched} result lines name no item of their batch. They are kept and never charged.`,
    });
  }
  if (warnings.length > 0) await recordIngestWarnings(db.pool, job.key, warnings);
}

async function decide(
  { db, now, settings }: ActivityDependencies,
  { job, shard, attempt }: Reading,
  batch: NativeBatch,
  counted: { settled: number; rejectedLines: number; unmatched: number },
): Promise<IngestResult> {
  const at = now();
  const remaining = await countOpenItems(db.pool, job.key, shard);
  const decision = decideAfterIngest(
    {
      end: batch.end ?? attempt.batchEnd ?? 'completed',
      remaining,
      rejectedLines: counted.rejectedLines,
      capacityRefused: batch.capacityRefused,
      waitedMs: shard.waitingSince === null ? 0 : at.getTime() - shard.waitingSince.getTime(),
      sinceEndMs: at.getTime() - (attempt.endedAt ?? at).getTime(),
    },
    settings,
  );
  if (decision.next === 'resubmit') {
    await inTransaction(db, async (client) => {
      const locked = await lockJobRow(client, job.jobId);
      await closeAttempt(client, job.key, attempt, { outcome: null, now: at });
      const state = decision.waiting === null ? 'planned' : 'waiting';
      await moveShard(client, locked, shard.shard, { state, waiting: decision.waiting, now: at });
    });
  }
  return { ...decision, settled: counted.settled, remaining, unmatched: counted.unmatched };
}
