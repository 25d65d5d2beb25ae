import { type AttemptRow, getAttempt, listRecentDurations, recordPoll } from '../db/attempts.ts';
import { accountOf } from '../db/capacity-accounts.ts';
import { getJobRow, type JobRow, lockJobRow } from '../db/job-rows.ts';
import { recordNativeErrors } from '../db/native-errors.ts';
import { recordProviderProgress } from '../db/provider-progress.ts';
import { getShard, moveShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { shardStateOfPhase } from '../domain/batch-phase.ts';
import { type StopReason, stopReason, untilDeadline } from '../domain/execution-times.ts';
import { estimateCompletion, learnedExpectedEnd, nextPollDelay } from '../domain/poll-schedule.ts';
import { keptErrors } from '../domain/provider-words.ts';
import type { NativeBatch } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { answerInTime } from './answer-in-time.ts';
import { isCredentialWaitOver } from './credential-wait.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { PollResult, ProviderActivities, WaitingReason } from './interfaces.ts';
import { isOutOfReach, isOverdue } from './provider-window.ts';
import { noteQueueMove } from './queue-moves.ts';
import { keyOf, wakeNext } from './queue-turn.ts';
import { DENIALS, waitedMs, waitingAfterAnswer } from './waiting.ts';

const POLL_FACTOR = 1.5;
const POLL_JITTER = 0.1;

interface Polled {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  readonly pollsWithoutChange: number;
}

/**
 * Asks the provider once and records what it said. A provider that is away, or that denies a batch it has accepted, is
 * an answer too, not a failure: the shard says so and is asked again, until a documented bound makes the batch lost.
 */
export function createPollAttempt(dependencies: ActivityDependencies): ProviderActivities['pollAttempt'] {
  const { db } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
    if (shard.givenUpAt !== null) return readRows(attempt);
    const polled = { job, shard, attempt, pollsWithoutChange: ref.pollsWithoutChange };
    if (attempt.providerBatchId === null)
      throw new Error(`attempt ${ref.attempt} of shard ${ref.shard} has no batch to poll`);
    const { providerBatchId } = attempt;
    try {
      const provider = await dependencies.providers.of(attempt.provider, attempt.credentialId);
      const batch = await answerInTime((signal) => provider.retrieveBatch({ providerBatchId, signal }));
      return await recordAnswer(dependencies, polled, batch);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
      return recordNoAnswer(dependencies, polled, error);
    }
  };
}

async function recordAnswer(
  dependencies: ActivityDependencies,
  polled: Polled,
  batch: NativeBatch,
): Promise<PollResult> {
  const { db, now, log } = dependencies;
  const { job, shard, attempt } = polled;
  const at = now();
  const changed = batch.nativeStatus !== attempt.nativeStatus;
  const current = { ...attempt, expiresAt: batch.expiresAt ?? attempt.expiresAt };
  const expectedEndInMs = await expectEnd(dependencies, polled, at);
  const asPolled = { ...polled, pollsWithoutChange: changed ? 0 : polled.pollsWithoutChange };
  const delayMs = untilDeadline(job, nextDelay(dependencies, asPolled, at, batch, expectedEndInMs), at);
  const isLate = batch.phase !== 'ended' && isOverdue(current, at);
  const { stopped, mayWake } = await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    await recordPoll(client, job.key, attempt, {
      ...batch,
      nativeErrors: keptErrors(job.terms.storage, batch.validationErrors),
      end: batch.end,
      now: at,
    });
    const nextPollAt = batch.phase === 'ended' ? null : new Date(at.getTime() + delayMs);
    await moveShard(client, locked, shard.shard, {
      state: shardStateOfPhase(batch.phase),
      ...(isLate ? { waiting: 'batch_overdue' } : waitingAfterAnswer(shard, batch)),
      nextPollAt,
      now: at,
    });
    const endsInMs = estimateEnd(attempt, at, batch) ?? expectedEndInMs;
    await recordProviderProgress(client, job.key, {
      now: at,
      endsAt: endsInMs === null || endsInMs < 0 ? null : new Date(at.getTime() + endsInMs),
    });
    const mayWake = await noteQueueMove(client, polled, batch, at);
    return { stopped: stopReason(locked, at), mayWake };
  });
  if (mayWake) await wakeNext(dependencies, accountOf(attempt, shard), keyOf(polled));
  if (changed) log.info({ jobId: job.jobId, shard: shard.shard, nativeStatus: batch.nativeStatus }, 'batch moved');
  const answer = { nativeStatus: batch.nativeStatus, end: batch.end, changed, delayMs, ...stopping(stopped) };
  if (isLate && isOutOfReach(current, at)) return { kind: 'lost', mayRun: true, ...answer };
  const kind = batch.phase === 'ended' ? 'ended' : 'open';
  return { kind, ...answer, ...(isLate && { waiting: 'batch_overdue' }) };
}

async function recordNoAnswer(
  dependencies: ActivityDependencies,
  polled: Polled,
  error: ProviderError,
): Promise<PollResult> {
  const { db, settings, now, log } = dependencies;
  const { job, shard, attempt } = polled;
  const at = now();
  const waiting = waitingWithoutAnswer(shard, error);
  const deniedMs = waiting === 'batch_denied' ? waitedMs(shard, waiting, at) : 0;
  const isParked = waiting === 'credential_refused';
  const lost = isParked
    ? await isCredentialWaitOver(dependencies, polled, at)
    : deniedMs >= settings.providerLostAfterMs || isOutOfReach(attempt, at);
  const patient = Math.max(error.retryAfterMs ?? 0, nextDelay(dependencies, polled, at, null, null));
  const delayMs = untilDeadline(job, patient, at);
  log.warn(
    { jobId: job.jobId, shard: shard.shard, code: error.code, status: error.status, deniedMs, lost },
    'poll not answered',
  );
  const stopped = await inTransaction(db, async (client) => {
    const locked = await lockJobRow(client, job.jobId);
    await recordNativeErrors(client, job, attempt, [
      { code: error.code, status: error.status, message: error.message, at },
    ]);
    await moveShard(client, locked, shard.shard, {
      state: shard.state,
      waiting,
      nextPollAt: new Date(at.getTime() + delayMs),
      now: at,
    });
    return stopReason(locked, at);
  });
  return {
    ...{ kind: lost ? 'lost' : 'open', nativeStatus: nativeStatusOf(attempt), end: null, changed: false, delayMs },
    ...stopping(stopped),
    waiting,
    ...(isParked && { close: 'credential_refused' }),
  };
}

/** For a caller that does not know the word: it asks again, not at once. */
const READ_ROWS_MS = 1_000;

function readRows(attempt: AttemptRow): PollResult {
  const asBefore = { nativeStatus: nativeStatusOf(attempt), end: null, changed: false, ...stopping(null) };
  return { kind: 'open', readRows: true, delayMs: READ_ROWS_MS, ...asBefore };
}

function nativeStatusOf({ nativeStatus }: AttemptRow): string {
  return nativeStatus ?? 'not known yet';
}

function stopping(stopped: StopReason | null): Pick<PollResult, 'cancelRequested' | 'stopped'> {
  return { cancelRequested: stopped !== null, stopped };
}

/**
 * Only a denial says that the batch is gone, and only an answer takes it back: how long the provider was out of reach in
 * between says nothing of the batch.
 */
function waitingWithoutAnswer({ waitingReason }: ShardRow, { code }: ProviderError): WaitingReason {
  if (DENIALS.includes(code)) return 'batch_denied';
  if (code === 'credential_refused') return 'credential_refused';
  return waitingReason === 'batch_denied' ? 'batch_denied' : 'provider_trouble';
}

async function expectEnd({ db }: ActivityDependencies, { shard, attempt }: Polled, at: Date): Promise<number | null> {
  const durationMs = learnedExpectedEnd(
    await listRecentDurations(db.pool, shard.provider, attempt.endpoint),
    attempt.itemCount,
  );
  return durationMs === null ? null : durationMs - ageOf(attempt, at);
}

function nextDelay(
  { settings, random }: ActivityDependencies,
  { attempt, pollsWithoutChange }: Polled,
  at: Date,
  batch: NativeBatch | null,
  expectedEndInMs: number | null,
): number {
  return nextPollDelay({
    ageMs: ageOf(attempt, at),
    pollsWithoutChange,
    expectedEndInMs,
    progress: progressOf(batch),
    progressRate: rateOf(attempt, at, batch),
    policy: { minMs: settings.pollMinMs, maxMs: settings.pollMaxMs, factor: POLL_FACTOR, jitter: POLL_JITTER },
    random01: random(),
  });
}

function estimateEnd(attempt: AttemptRow, at: Date, batch: NativeBatch): number | null {
  return estimateCompletion(progressOf(batch), rateOf(attempt, at, batch));
}

function progressOf(batch: NativeBatch | null): { done: number; total: number } | null {
  const progress = batch?.progress ?? null;
  return progress === null ? null : { done: progress.completed + progress.failed, total: progress.total };
}

/** Items a second over the batch's whole life; null until something is done. */
function rateOf(attempt: AttemptRow, at: Date, batch: NativeBatch | null): number | null {
  const done = progressOf(batch)?.done ?? 0;
  const ageMs = ageOf(attempt, at);
  return done === 0 || ageMs <= 0 ? null : (done * 1_000) / ageMs;
}

function ageOf(attempt: AttemptRow, at: Date): number {
  return at.getTime() - (attempt.acceptedAt ?? attempt.createdAt).getTime();
}
