import { type AttemptRow, closeAttempt, findLastAttempt, insertAttempt } from '../db/attempts.ts';
import { accountOf } from '../db/capacity-accounts.ts';
import { getJobRow, type JobRow, lockJobRow } from '../db/job-rows.ts';
import { readNativeError } from '../db/native-errors.ts';
import { countOpenItems, estimateInputTokens, getShard, type ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { type CloseReason, remainderOutcome } from '../domain/close-reason.ts';
import { isShardOpen } from '../domain/shard-state.ts';
import { settleRemainder } from '../ledger/settle.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { GATEWAY_CREDENTIAL } from './gateway-credential.ts';
import { beat } from './heartbeats.ts';
import type { ShardActivities, ShardStep } from './interfaces.ts';
import { keyOf, wakeNext } from './queue-turn.ts';
import { recordMove } from './record-move.ts';
import { settleRanges } from './settle-ranges.ts';

/** Each new attempt needs a reason of its own; this many mean that something else is wrong. */
const MAX_ATTEMPTS = 1_000;

/** The activities of one shard that speak to Postgres alone. */
export function createShardActivities(dependencies: ActivityDependencies): ShardActivities {
  const { db, now, log } = dependencies;
  return {
    nextStep: (ref) =>
      inTransaction(db, async (client) => {
        const job = await lockJobRow(client, ref.jobId);
        const shard = await getShard(client, job.key, ref.shard);
        if (!isShardOpen(shard.state)) return { kind: 'settled' };
        const attempt = await findLastAttempt(client, job.key, ref.shard);
        if (attempt !== null && attempt.closedAt === null) {
          if (isUnsent(attempt) && job.cancelRequestedAt !== null) {
            await closeAttempt(client, job.key, attempt, { outcome: 'not_sent', now: now() });
            return { kind: 'close', reason: 'cancelled' };
          }
          return goOn(attempt, shard, dependencies);
        }
        if (job.cancelRequestedAt !== null) return { kind: 'close', reason: 'cancelled' };
        return startAttempt(client, job, shard, attempt, dependencies);
      }),

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
      let closed = 0;
      for (const range of settleRanges(shard)) {
        beat();
        closed += await settleRemainder(db, { job, shard, attempt: attempt?.attempt ?? 0, ...range }, remainder);
      }
      await recordMove(db, job, number, { state: 'settled', waiting: null, now: now() }, attempt);
      // What it had waited for, or had itself, is another's now.
      if (attempt !== null) await wakeNext(dependencies, accountOf(attempt, shard), keyOf({ job, shard }));
      log.info({ jobId, shard: number, reason, closed }, 'shard settled');
      return { closed };
    },
  };
}

/** Ends for which the provider has said why, and that one word of it holds for every item. */
function isRefusal(reason: CloseReason): boolean {
  return reason === 'rejected' || reason === 'batch_failed';
}

function isUnsent(attempt: AttemptRow): boolean {
  return attempt.providerBatchId === null && attempt.createStartedAt === null;
}

function goOn(attempt: AttemptRow, shard: ShardRow, { settings, now }: ActivityDependencies): ShardStep {
  const step = { attempt: attempt.attempt, items: attempt.itemCount, provider: shard.provider };
  if (attempt.providerBatchId !== null) return { kind: 'poll', ...step, nativeStatus: attempt.nativeStatus };
  if (attempt.createDeadline === null) return { kind: 'submit', ...step };
  const lookAt = attempt.createDeadline.getTime() + settings.listingLagMs;
  return { kind: 'resolve', ...step, lookAfterMs: Math.max(0, lookAt - now().getTime()) };
}

async function startAttempt(
  client: Parameters<typeof insertAttempt>[0],
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
    credentialId: GATEWAY_CREDENTIAL,
    itemCount: items,
    estimatedInputTokens: await estimateInputTokens(client, job.key, shard, items),
  });
  return { kind: 'submit', attempt, items, provider: shard.provider };
}
