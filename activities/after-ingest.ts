import { countOpenItems } from '../db/shards.ts';
import { type IngestWarning, recordIngestWarnings } from '../db/unmatched-lines.ts';
import { isCutByDeadline } from '../domain/execution-times.ts';
import { decideAfterIngest } from '../domain/ingest-decision.ts';
import type { NativeBatch } from '../providers/provider.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { answerFullQueue } from './full-queue.ts';
import type { IngestResult } from './interfaces.ts';
import type { Counts, Reading } from './reading.ts';
import { recordMove } from './record-move.ts';

/** Records what a reading has led to: the shard is closed, read once more, or sent anew in a batch of its own. */
export async function decideNext(
  dependencies: ActivityDependencies,
  reading: Reading,
  batch: NativeBatch,
  counted: { readonly settled: number; readonly rejectedLines: number; readonly unmatched: number },
): Promise<IngestResult> {
  const { db, now, settings } = dependencies;
  const { job, shard, attempt } = reading;
  const remaining = await countOpenItems(db.pool, job.key, shard);
  const decision = decideAfterIngest(
    {
      end: batch.end ?? attempt.batchEnd ?? 'completed',
      remaining,
      rejectedLines: counted.rejectedLines,
      capacityRefused: batch.capacityRefused,
      hasResults: reading.provider.resultFiles(batch).length > 0,
      reading,
    },
    settings,
  );
  const facts = { settled: counted.settled, remaining, unmatched: counted.unmatched };
  const move = { waiting: null, now: now() };
  switch (decision.next) {
    case 'again':
      await recordMove(db, job, shard.shard, { state: 'ingesting', ...move });
      return { ...decision, ...facts };
    case 'resubmit':
      await recordMove(db, job, shard.shard, { state: 'planned', ...move }, attempt);
      return { ...decision, ...facts, waiting: null };
    case 'wait_for_room':
      return { ...(await waitForRoom(dependencies, reading, batch)), ...facts };
    case 'close': {
      const isCut = decision.reason === 'batch_cancelled' && isCutByDeadline(job, attempt.endedAt);
      return { next: 'close', reason: isCut ? 'deadline' : decision.reason, ...facts };
    }
  }
}

type Next = Pick<Extract<IngestResult, { next: 'resubmit' }>, 'next' | 'delayMs' | 'waiting'>;

async function waitForRoom(
  dependencies: ActivityDependencies,
  { job, shard, attempt }: Reading,
  { validationErrors }: NativeBatch,
): Promise<Next | { next: 'close'; reason: 'capacity_exhausted' }> {
  const words = validationErrors.map(({ message }) => message).join(' ');
  const sentAt = attempt.createStartedAt ?? attempt.createdAt;
  const refused = { job, shard, attempt, words, sentAt, retryAfterMs: null, isSpent: true };
  const answer = await answerFullQueue(dependencies, refused);
  if (answer.kind === 'give_up') return { next: 'close', reason: 'capacity_exhausted' };
  // A shard that was split has nothing left to send: its rows say so to whoever asks what comes next.
  if (answer.kind === 'split') return { next: 'resubmit', delayMs: 0, waiting: null };
  return { next: 'resubmit', delayMs: answer.delayMs, waiting: 'provider_capacity' };
}

/** Shows on the job what was odd about the results. */
export async function recordWarnings(
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
