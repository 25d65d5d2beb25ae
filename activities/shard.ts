import { type AttemptRow, closeAttempt, findLastAttempt, insertAttempt } from '../db/attempts.ts';
import { accountOf } from '../db/capacity-accounts.ts';
import { cancelQueuedIfDeleted } from '../db/document-cancels.ts';
import { getJobRow, type JobRow, lockJobRow } from '../db/job-rows.ts';
import { readNativeError } from '../db/native-errors.ts';
import { chooseCredential } from '../db/provider-credentials.ts';
import { deleteSettledRequests } from '../db/request-deletion.ts';
import { countOpenItems, estimateInputTokens, getShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { type CloseReason, remainderOutcome } from '../domain/close-reason.ts';
import { heldForMs, stopReason } from '../domain/execution-times.ts';
import { isShardOpen } from '../domain/shard-state.ts';
import { keepsContent } from '../domain/storage-terms.ts';
import { settleRemainder } from '../ledger/settle.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { settleUnsent } from './documents/settle-unsent.ts';
import { beat } from './heartbeats.ts';
import type { ShardActivities, ShardRef, ShardStep } from './interfaces.ts';
import { keyOf, wakeNext } from './queue-turn.ts';
import { recordMove } from './record-move.ts';
import { settleWhatWasRead } from './settle-left.ts';
import { settleRanges } from './settle-ranges.ts';

/** Each new attempt needs a reason of its own; this many mean that something else is wrong. */
const MAX_ATTEMPTS = 1_000;

type Client = Parameters<typeof insertAttempt>[0];

const SETTLED = { kind: 'settled' } as const;
const GIVEN_UP = { kind: 'close', reason: 'given_up' } as const;

/** The activities of one shard that speak to Postgres alone. */
export function createShardActivities(dependencies: ActivityDependencies): ShardActivities {
  const { db, now, log } = dependencies;
  return {
    nextStep: (ref) => inTransaction(db, (client) => decideStep(client, dependencies, ref)),

    closeShard: async ({ jobId, shard: number, reason }) => {
      const job = await getJobRow(db.pool, jobId);
      const shard = await getShard(db.pool, job.key, number);
      const attempt = await findLastAttempt(db.pool, job.key, number);
      const { state, failure } = remainderOutcome(reason);
      const remainder = {
        state,
        failureClass: failure.class,
        code: failure.code,
        message: failure.message,
        nativeError: isRefusal(reason) && attempt !== null ? await readNativeError(db.pool, job.key, attempt) : null,
      };
      if (reason === 'given_up' && attempt !== null) await settleWhatWasRead(db, { job, shard, attempt });
      let closed = 0;
      for (const range of settleRanges(shard)) {
        beat();
        closed += await settleRemainder(db, { job, shard, attempt: attempt?.attempt ?? 0, ...range }, remainder);
        if (isDoneWithRequests(job)) await deleteSettledRequests(db.pool, job.key, number, range);
      }
      await recordMove(db, job, number, { state: 'settled', waiting: null, now: now() }, attempt);
      // What it had waited for, or had itself, is another's now.
      if (attempt !== null) await wakeNext(dependencies, accountOf(attempt, shard), keyOf({ job, shard }));
      log.info({ jobId, shard: number, reason, closed }, 'shard settled');
      return { closed };
    },
  };
}

/** In the transaction that locks the job: what is decided holds until it commits. */
async function decideStep(
  client: Client,
  dependencies: ActivityDependencies,
  { jobId, shard: number }: ShardRef,
): Promise<ShardStep> {
  const job = await lockJobRow(client, jobId);
  const shard = await getShard(client, job.key, number);
  if (!isShardOpen(shard.state)) return shard.rereadRequestedAt === null ? SETTLED : { ...SETTLED, reread: true };
  const at = dependencies.now();
  if (job.kind === 'document') {
    await cancelQueuedIfDeleted(client, job.key.uuid, at);
    await settleUnsent(client, job, at);
  }
  const attempt = await findLastAttempt(client, job.key, number);
  const stopped = stopReason(job, at);
  if (attempt !== null && attempt.closedAt === null) {
    if (stopped === null ? await keepsCredential(client, job, attempt) : !isUnsent(attempt))
      return goOn(attempt, shard, dependencies);
    await closeAttempt(client, job.key, attempt, { outcome: 'not_sent', now: at });
  }
  if (stopped !== null) return { kind: 'close', reason: stopped };
  if (shard.givenUpAt !== null) return GIVEN_UP;
  const delayMs = heldForMs(job, at);
  if (delayMs > 0) return { kind: 'held', delayMs };
  return startAttempt(client, job, shard, attempt, dependencies);
}

/** Nothing sends the items of a settled shard again but a wave of retries, and those need the requests until the job's end. */
function isDoneWithRequests({ terms, retryPolicy }: JobRow): boolean {
  return !keepsContent(terms.storage) && (retryPolicy?.maxAttempts ?? 1) <= 1;
}

/** Ends for which the provider has said why, and that one word of it holds for every item. */
function isRefusal(reason: CloseReason): boolean {
  return reason === 'rejected' || reason === 'batch_failed';
}

function isUnsent(attempt: AttemptRow): boolean {
  return attempt.providerBatchId === null && attempt.createStartedAt === null;
}

/** What was sent stays with its credential. What was not goes with whichever is first in line when it is. */
async function keepsCredential(client: Client, job: JobRow, attempt: AttemptRow): Promise<boolean> {
  return !isUnsent(attempt) || (await chooseCredential(client, job, attempt.provider)) === attempt.credentialId;
}

function goOn(attempt: AttemptRow, shard: ShardRow, dependencies: ActivityDependencies): ShardStep {
  const next = continueAttempt(attempt, shard, dependencies);
  // A create may be on its way until its deadline: only after that can its batch be looked for, and cancelled.
  const isOnItsWay = next.kind === 'resolve' && next.lookAfterMs > 0;
  return shard.givenUpAt === null || isOnItsWay ? next : GIVEN_UP;
}

function continueAttempt(attempt: AttemptRow, shard: ShardRow, { settings, now }: ActivityDependencies): ShardStep {
  const step = { attempt: attempt.attempt, items: attempt.itemCount, provider: shard.provider };
  if (attempt.providerBatchId !== null) return { kind: 'poll', ...step, nativeStatus: attempt.nativeStatus };
  if (attempt.createDeadline === null) return { kind: 'submit', ...step };
  const lookAt = attempt.createDeadline.getTime() + settings.listingLagMs;
  return { kind: 'resolve', ...step, lookAfterMs: Math.max(0, lookAt - now().getTime()) };
}

async function startAttempt(
  client: Client,
  job: JobRow,
  shard: ShardRow,
  last: AttemptRow | null,
  { newAttemptToken }: ActivityDependencies,
): Promise<ShardStep> {
  const attempt = (last?.attempt ?? 0) + 1;
  if (attempt > MAX_ATTEMPTS) return { kind: 'close', reason: 'attempts_exhausted' };
  const items = await countOpenItems(client, job.key, shard);
  if (items === 0) return { kind: 'close', reason: 'batch_completed' };
  await insertAttempt(client, job.key, {
    shard: shard.shard,
    attempt,
    attemptToken: newAttemptToken(),
    provider: shard.provider,
    endpoint: job.endpoint,
    credentialId: await chooseCredential(client, job, shard.provider),
    itemCount: items,
    estimatedInputTokens: await estimateInputTokens(client, job.key, shard, items),
    disownedBatchIds: last?.disownedBatchIds ?? [],
  });
  return { kind: 'submit', attempt, items, provider: shard.provider };
}
