import { rm } from 'node:fs/promises';
import {
  type AttemptRow,
  closeAttempt,
  getAttempt,
  giveCreateBack,
  recordInputFile,
  takeCreate,
} from '../db/attempts.ts';
import { getJobRow, type JobRow } from '../db/job-rows.ts';
import { getShard, type ShardRow } from '../db/shards.ts';
import { resendDelay } from '../domain/resend-delay.ts';
import type { ShardState } from '../domain/shard-state.ts';
import type { BatchProvider, NativeBatch } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { acceptBatch } from './accept-batch.ts';
import { buildInput } from './build-input.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { cancellationSignal, whileBeating } from './heartbeats.ts';
import type { ProviderActivities, SubmitResult, WaitingReason } from './interfaces.ts';
import { getProvider } from './providers.ts';
import { recordMove } from './record-move.ts';
import { answerRefusal } from './refusals.ts';
import { waitedMs } from './waiting.ts';

interface Submission {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  readonly provider: BatchProvider;
}

/**
 * Build, upload, take the create, send it once. The compare-and-set on the attempt's row is what makes a second create
 * under one token impossible, whatever restarts, resets or thaws: who does not win it only looks.
 */
export function createSubmitAttempt(dependencies: ActivityDependencies): ProviderActivities['submitAttempt'] {
  const { db, settings } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
    if (attempt.providerBatchId !== null) return { kind: 'accepted' };
    if (attempt.createStartedAt !== null) return { kind: 'unknown', lookAfterMs: settings.listingLagMs };
    const pauseMs = pauseBefore(attempt, shard, dependencies.now());
    if (pauseMs > 0) return { kind: 'wait', reason: 'confirming_submission', delayMs: pauseMs, giveUp: null };
    const submission = { job, shard, attempt, provider: getProvider(dependencies.providers, shard.provider) };
    let file: string | null = null;
    try {
      await move(dependencies, submission, 'uploading');
      if (attempt.inputFileId !== null) return await create(dependencies, submission, attempt.inputFileId, null);
      const signal = cancellationSignal();
      file = (
        await buildInput(db, submission.provider, { ...submission, workDirectory: settings.workDirectory, signal })
      ).path;
      const upload = { path: file, fileName: `${attempt.attemptToken}.jsonl`, signal };
      const uploaded = await whileBeating(() => submission.provider.uploadInput(upload));
      if (uploaded !== null) await recordInputFile(db.pool, job.key, attempt, uploaded.inputFileId);
      return await create(dependencies, submission, uploaded?.inputFileId ?? null, file);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
      return answerRefusal(dependencies, { ...submission, error });
    } finally {
      if (file !== null) await rm(file, { force: true });
    }
  };
}

/** Creates that a failing provider leaves unanswered, each with an upload of its own, come less and less often. */
function pauseBefore({ createdAt }: AttemptRow, shard: ShardRow, at: Date): number {
  const waited = waitedMs(shard, 'confirming_submission', createdAt);
  const delayMs = resendDelay({ waitedMs: waited, firstDelayMs: 0, retryAfterMs: null, random01: 0 });
  return createdAt.getTime() + delayMs - at.getTime();
}

async function create(
  dependencies: ActivityDependencies,
  submission: Submission,
  inputFileId: string | null,
  path: string | null,
): Promise<SubmitResult> {
  const { db, settings, now, log } = dependencies;
  const { job, shard, attempt, provider } = submission;
  const deadline = new Date(now().getTime() + settings.createDeadlineMs);
  if (!(await takeCreate(db.pool, job.key, attempt, { now: now(), deadline })))
    return afterLosing(dependencies, submission);
  await move(dependencies, submission, 'creating');
  // A process that was frozen between taking and sending must not send after others have looked for the batch.
  const leftMs = deadline.getTime() - now().getTime();
  if (leftMs <= 0) return { kind: 'unknown', lookAfterMs: settings.listingLagMs };
  let batch: NativeBatch;
  try {
    batch = await whileBeating(() =>
      provider.createBatch({
        attemptToken: attempt.attemptToken,
        endpoint: job.endpoint,
        model: shard.providerModel,
        itemCount: attempt.itemCount,
        inputFileId,
        path,
        signal: AbortSignal.timeout(leftMs),
      }),
    );
  } catch (error) {
    if (error instanceof ProviderError && !error.mayHaveActed) {
      await giveCreateBack(db.pool, job.key, attempt);
      return answerRefusal(dependencies, { ...submission, error });
    }
    const code = error instanceof ProviderError ? error.code : 'unknown';
    log.warn({ jobId: job.jobId, shard: shard.shard, attempt: attempt.attempt, code }, 'create unanswered');
    await move(dependencies, submission, 'creating', 'confirming_submission');
    const lookAt = deadline.getTime() + settings.listingLagMs;
    return { kind: 'unknown', lookAfterMs: Math.max(0, lookAt - now().getTime()) };
  }
  await acceptBatch(dependencies, { job, attempt, batch });
  return { kind: 'accepted' };
}

/** Another run sent the create, or a cancel came first. */
async function afterLosing(dependencies: ActivityDependencies, { job, attempt }: Submission): Promise<SubmitResult> {
  const { db, settings, now } = dependencies;
  const current = await getAttempt(db.pool, job.key, attempt.shard, attempt.attempt);
  if (current.createStartedAt !== null)
    return { kind: 'unknown', lookAfterMs: settings.createDeadlineMs + settings.listingLagMs };
  await closeAttempt(db.pool, job.key, attempt, { outcome: 'not_sent', now: now() });
  return { kind: 'close', reason: 'cancelled' };
}

async function move(
  { db, now }: ActivityDependencies,
  { job, shard }: Submission,
  state: ShardState,
  waiting?: WaitingReason,
): Promise<void> {
  await recordMove(db, job, shard.shard, { state, ...(waiting !== undefined && { waiting }), now: now() });
}
