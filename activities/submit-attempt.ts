import { rm } from 'node:fs/promises';
import {
  type AttemptRow,
  closeAttempt,
  closeUnsentAttempt,
  getAttempt,
  recordInputFile,
  recordItemCount,
} from '../db/attempts.ts';
import { giveRoomBack } from '../db/capacity-accounts.ts';
import { giveCreateBack, isCreateUnanswered, takeCreate } from '../db/creates.ts';
import { getJobRow, type JobRow, lockJobRow } from '../db/job-rows.ts';
import { getShard, moveShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { stopReason, untilDeadline } from '../domain/execution-times.ts';
import { resendDelay } from '../domain/resend-delay.ts';
import { isShardOpen, type ShardState } from '../domain/shard-state.ts';
import type { BatchProvider, NativeBatch } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { acceptBatch } from './accept-batch.ts';
import { buildInput } from './build-input.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { cancellationSignal, whileBeating } from './heartbeats.ts';
import type { AttemptRef, ProviderActivities, SubmitResult, WaitingReason } from './interfaces.ts';
import { takeTurn } from './queue-turn.ts';
import { recordMove } from './record-move.ts';
import { answerRefusal } from './refusals.ts';
import { waitedMs } from './waiting.ts';

interface Submission {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  readonly provider: BatchProvider;
  /** The provider's batches carry no label: creates under one credential go one after the other. */
  readonly oneAtATime: boolean;
}

/** The rows have moved on since this was asked for: whoever asked reads them again. */
const READ_AGAIN: SubmitResult = { kind: 'wait', reason: 'confirming_submission', delayMs: 0, giveUp: null };

/**
 * Wait for a turn, build, upload, take the create, send it once. The compare-and-set on the attempt's row is what makes
 * a second create under one token impossible, whatever restarts, resets or thaws: who does not win it only looks.
 */
export function createSubmitAttempt(dependencies: ActivityDependencies): ProviderActivities['submitAttempt'] {
  const { db, now } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const result = await submit(dependencies, job, ref);
    return result.kind === 'wait' ? { ...result, delayMs: untilDeadline(job, result.delayMs, now()) } : result;
  };
}

async function submit(dependencies: ActivityDependencies, job: JobRow, ref: AttemptRef): Promise<SubmitResult> {
  const { db, catalogue, settings, now } = dependencies;
  const shard = await getShard(db.pool, job.key, ref.shard);
  const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
  if (!isShardOpen(shard.state) || shard.givenUpAt !== null || attempt.closedAt !== null) return READ_AGAIN;
  if (attempt.providerBatchId !== null) return { kind: 'accepted' };
  if (attempt.createStartedAt !== null) return { kind: 'unknown', lookAfterMs: settings.listingLagMs };
  // Rows say so to whoever asks what comes next; here it keeps a file from being built and uploaded for nothing.
  if (stopReason(job, now()) !== null) return READ_AGAIN;
  const pauseMs = pauseBefore(attempt, shard, now());
  if (pauseMs > 0) return { kind: 'wait', reason: 'confirming_submission', delayMs: pauseMs, giveUp: null };
  const capability = catalogue.findCapability(shard.provider, job.endpoint, shard.providerModel);
  const oneAtATime = capability?.sizesDiffer ?? true;
  const provider = await dependencies.providers.of(attempt.provider, attempt.credentialId);
  const submission = { job, shard, attempt, provider, oneAtATime };
  if (oneAtATime && (await isCreateUnanswered(db.pool, job.key, attempt)))
    return waitToCreate(dependencies, submission);
  return (await takeTurn(dependencies, submission)) ?? send(dependencies, submission);
}

async function send(dependencies: ActivityDependencies, submission: Submission): Promise<SubmitResult> {
  const { db, settings, now } = dependencies;
  const { job, attempt, provider } = submission;
  const sentAt = now();
  let file: string | null = null;
  try {
    await move(dependencies, submission, 'uploading');
    if (attempt.inputFileId !== null) return await create(dependencies, submission, attempt.inputFileId, null);
    const signal = AbortSignal.any([cancellationSignal(), atDeadline(job, sentAt)]);
    const built = await buildInput(db, { ...submission, workDirectory: settings.workDirectory, signal });
    file = built.path;
    if (built.items === 0) return await closeEmpty(dependencies, submission);
    if (built.items !== attempt.itemCount) await recordItemCount(db.pool, job.key, attempt, built.items);
    const sending = { ...submission, attempt: { ...attempt, itemCount: built.items } };
    const upload = { path: file, fileName: `${attempt.attemptToken}.jsonl`, signal };
    const uploaded = await whileBeating(() => provider.uploadInput(upload));
    if (uploaded !== null) await recordInputFile(db.pool, job.key, attempt, uploaded.inputFileId);
    return await create(dependencies, sending, uploaded?.inputFileId ?? null, file);
  } catch (error) {
    if (isCutShort(error, job, now())) return READ_AGAIN;
    if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
    return answerRefusal(dependencies, { ...submission, error, sentAt });
  } finally {
    if (file !== null) await rm(file, { force: true });
  }
}

/** Node takes a longer time for none. A deadline further off than that is none of one upload's. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Stops a build or an upload when the deadline passes. A create that was sent is awaited. */
function atDeadline({ deadline }: JobRow, at: Date): AbortSignal {
  if (deadline === null) return new AbortController().signal;
  return AbortSignal.timeout(Math.min(Math.max(0, deadline.getTime() - at.getTime()), MAX_TIMER_MS));
}

function isCutShort(error: unknown, job: JobRow, at: Date): boolean {
  if (stopReason(job, at) !== 'deadline' || cancellationSignal().aborted) return false;
  if (error instanceof ProviderError) return error.code === 'aborted';
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
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
  const { job, shard, attempt, provider, oneAtATime } = submission;
  const sentAt = now();
  const deadline = new Date(sentAt.getTime() + settings.createDeadlineMs);
  const claim = await takeCreate(db, job.key, attempt, { now: sentAt, deadline, oneAtATime });
  if (claim === 'not_its_turn') return waitToCreate(dependencies, submission);
  if (claim === 'lost') return afterLosing(dependencies, submission);
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
      return answerRefusal(dependencies, { ...submission, error, sentAt });
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

/** Another run sent the create, a cancel or the deadline came first, or a document that its file asks about was canceled. */
async function afterLosing(dependencies: ActivityDependencies, { job, attempt }: Submission): Promise<SubmitResult> {
  const { db, settings, now } = dependencies;
  const current = await getAttempt(db.pool, job.key, attempt.shard, attempt.attempt);
  if (current.createStartedAt !== null)
    return { kind: 'unknown', lookAfterMs: settings.createDeadlineMs + settings.listingLagMs };
  const at = now();
  await inTransaction(db, async (client) => {
    await lockJobRow(client, job.jobId);
    await closeUnsentAttempt(client, job.key, attempt.shard, at);
  });
  const stopped = stopReason(await getJobRow(db.pool, job.jobId), at);
  return stopped === null ? READ_AGAIN : { kind: 'close', reason: stopped };
}

/** None of its items could be put to the provider: they have all ended, and nothing is sent. */
async function closeEmpty({ db, now }: ActivityDependencies, { job, attempt }: Submission): Promise<SubmitResult> {
  await closeAttempt(db.pool, job.key, attempt, { outcome: 'not_sent', now: now() });
  return { kind: 'close', reason: 'rejected' };
}

/** The create of another shard is unanswered. Whoever learns what became of it wakes this one. */
async function waitToCreate(
  { db, settings, now, random }: ActivityDependencies,
  { job, shard, attempt }: Submission,
): Promise<SubmitResult> {
  const at = now();
  const delayMs = resendDelay({
    waitedMs: waitedMs(shard, 'submission_turn', at),
    firstDelayMs: settings.listingLagMs,
    retryAfterMs: null,
    random01: random(),
  });
  await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    await giveRoomBack(client, job.key, attempt);
    const nextPollAt = new Date(at.getTime() + delayMs);
    await moveShard(client, locked, shard.shard, { state: 'waiting', waiting: 'submission_turn', nextPollAt, now: at });
  });
  return { kind: 'wait', reason: 'submission_turn', delayMs, giveUp: null };
}

async function move(
  { db, now }: ActivityDependencies,
  { job, shard }: Submission,
  state: ShardState,
  waiting?: WaitingReason,
): Promise<void> {
  await recordMove(db, job, shard.shard, { state, ...(waiting !== undefined && { waiting }), now: now() });
}
