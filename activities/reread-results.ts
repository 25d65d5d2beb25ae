import { type AttemptRow, listSentAttempts, recordPoll } from '../db/attempts.ts';
import { getJobRow, type JobRow } from '../db/job-rows.ts';
import { insertOperatorAct } from '../db/operator-acts.ts';
import { readOutcomeCodes } from '../db/outcome-codes.ts';
import { endReread } from '../db/shard-marks.ts';
import { getShard, type ShardRow } from '../db/shards.ts';
import { insertUnmatchedLines, recordIngestWarnings, type UnmatchedLine } from '../db/unmatched-lines.ts';
import { keptErrors } from '../domain/provider-words.ts';
import { endedBatch } from '../providers/ended-batch.ts';
import { type JsonlLine, MAX_LINE_BYTES, splitLineBatches } from '../providers/jsonl.ts';
import type { BatchProvider, NativeBatch, ResultFile } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat, cancellationSignal } from './heartbeats.ts';
import type { ProviderActivities } from './interfaces.ts';
import { keepArtifact } from './keep-artifact.ts';
import { type MatchedLine, matchLines, toKeptLine } from './read-results.ts';
import { DENIALS } from './waiting.ts';

/** Lines that came too late are numbered apart from those that never named an item: output from here on, errors next. */
const LATE_FILE = { output: 101, error: 102 } as const;

interface Rereading {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  readonly provider: BatchProvider;
}

/** What became of one batch, for the operator who asked. */
interface BatchReread {
  readonly attempt: number;
  readonly provider_batch_id: string | null;
  /** `read`, `not_ended`, or the code of what the provider answered instead. */
  readonly outcome: string;
  readonly late_lines: number;
}

/**
 * Reads every result file of a settled shard once more. Items have ended and stay as they did: a line that says something
 * else of one is kept with the unmatched lines, visible and never charged, for an invoice to be compared with. A provider
 * that does not answer ends the reading, and the job's acts say so: it can be asked for again.
 */
export function createRereadResults(dependencies: ActivityDependencies): ProviderActivities['rereadResults'] {
  const { db, log } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    if (shard.rereadRequestedAt === null) return { late: 0 };
    const batches: BatchReread[] = [];
    for (const attempt of await listSentAttempts(db.pool, job.key, ref.shard)) {
      const provider = await dependencies.providers.of(attempt.provider, attempt.credentialId);
      batches.push(await reread(dependencies, { job, shard, attempt, provider }));
    }
    const late = batches.reduce((sum, batch) => sum + batch.late_lines, 0);
    if (late > 0) await recordIngestWarnings(db.pool, job.key, [lateResults(ref.shard)]);
    await insertOperatorAct(db.pool, job.key.uuid, {
      ...{ act: 're_ingested', shard: ref.shard, actor: 'gateway', reason: null },
      details: { batches },
    });
    await endReread(db.pool, job.key, ref.shard, shard.rereadRequestedAt);
    log.info({ jobId: ref.jobId, shard: ref.shard, late, batches: batches.length }, 'results read once more');
    return { late };
  };
}

function lateResults(shard: number) {
  const message = 'Results came for items that had ended without them. They are kept and never charged.';
  return { code: 'late_results', shard, message } as const;
}

async function reread(dependencies: ActivityDependencies, rereading: Rereading): Promise<BatchReread> {
  const { attempt, provider } = rereading;
  const named = { attempt: attempt.attempt, provider_batch_id: attempt.providerBatchId };
  let late = 0;
  try {
    const batch = await retrieve(dependencies, rereading);
    if (batch.phase !== 'ended') return { ...named, outcome: 'not_ended', late_lines: 0 };
    for (const [index, file] of provider.resultFiles(batch).entries()) {
      late += await rereadFile(dependencies, rereading, file, index + 1);
    }
    return { ...named, outcome: 'read', late_lines: late };
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
    return { ...named, outcome: error.code, late_lines: late };
  }
}

/** A batch that is no longer known may have left its files. */
async function retrieve(
  { db, now }: ActivityDependencies,
  { job, attempt, provider }: Rereading,
): Promise<NativeBatch> {
  try {
    const providerBatchId = attempt.providerBatchId ?? '';
    const batch = await provider.retrieveBatch({ providerBatchId, signal: cancellationSignal() });
    await recordPoll(db.pool, job.key, attempt, {
      ...batch,
      nativeErrors: keptErrors(job.terms.storage, batch.validationErrors),
      now: now(),
    });
    return batch;
  } catch (error) {
    const isKept = attempt.endedAt !== null && error instanceof ProviderError && DENIALS.includes(error.code);
    if (isKept) return endedBatch(attempt);
    throw error;
  }
}

async function rereadFile(
  dependencies: ActivityDependencies,
  rereading: Rereading,
  file: ResultFile,
  fileNo: number,
): Promise<number> {
  const { db } = dependencies;
  const { job, attempt, provider } = rereading;
  let late = 0;
  const download = provider.downloadFile({ file, signal: cancellationSignal() });
  const source = keepArtifact(dependencies, { job, attempt, file, fileNo }, download);
  for await (const lines of splitLineBatches(source, { maxLineBytes: MAX_LINE_BYTES })) {
    beat();
    const { matched, unmatched } = matchLines(provider, rereading, lines);
    const named = unmatched.map((line) => ({ ...line, file: fileNo }));
    await insertUnmatchedLines(db.pool, job.key, attempt, named);
    const news = await findNews(db, job, matched);
    const kept = toUnmatched(lines, news, LATE_FILE[file.kind]).map((line) => toKeptLine(job, line));
    late += await insertUnmatchedLines(db.pool, job.key, attempt, kept);
  }
  return late;
}

/** The others say that an item did not run, which is no news. */
const ANSWERS: readonly string[] = ['completed', 'failed'];

interface News {
  readonly line: number;
  readonly itemNo: number;
  /** How the item had ended. */
  readonly endedBy: string;
}

/** Lines that say of their items something else than how these ended, unless they had completed. */
async function findNews(db: ActivityDependencies['db'], job: JobRow, matched: readonly MatchedLine[]): Promise<News[]> {
  const lines = matched.filter(({ result: { kind }, isReadable }) => isReadable && ANSWERS.includes(kind));
  const outcomes = await readOutcomeCodes(
    db.pool,
    job.key,
    lines.map(({ itemNo }) => itemNo),
  );
  return lines.flatMap(({ line, itemNo, result }) => {
    const outcome = outcomes.get(itemNo);
    if (outcome === undefined || outcome.state === 'completed') return [];
    if (result.kind === 'failed' && result.code === outcome.errorCode) return [];
    return [{ line, itemNo, endedBy: outcome.errorCode }];
  });
}

function toUnmatched(lines: readonly JsonlLine[], news: readonly News[], file: number): UnmatchedLine[] {
  const rawOf = new Map(lines.map(({ line, bytes }) => [line, bytes]));
  return news.map(({ line, itemNo, endedBy }) => ({
    ...{ file, line, raw: rawOf.get(line) ?? new Uint8Array() },
    reason: `came after item ${itemNo} had ended as ${endedBy}`,
    providerItemId: null,
  }));
}
