import { type AttemptRow, closeAttempt, getAttempt } from '../db/attempts.ts';
import { accountOf } from '../db/capacity-accounts.ts';
import { listOwned } from '../db/creates.ts';
import { getJobRow, type JobRow } from '../db/job-rows.ts';
import { recordCandidates } from '../db/shard-marks.ts';
import { getShard, type ShardRow } from '../db/shards.ts';
import type { NativeBatch } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { acceptBatch } from './accept-batch.ts';
import { adoptChosen } from './adopt-chosen.ts';
import { isCredentialWaitOver } from './credential-wait.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { cancellationSignal } from './heartbeats.ts';
import type { ProviderActivities, ResolveResult } from './interfaces.ts';
import { keyOf, wakeNext } from './queue-turn.ts';
import { recordMove } from './record-move.ts';

/** "Not found" counts only after this many looks, a listing lag apart: lists show new batches late. */
const LOOKS_BEFORE_NOT_FOUND = 2;
/** Where several batches may be the one, only time or an operator can tell. */
const INDETERMINATE_DELAY_MS = 10 * 60_000;

/** Looks for the batch of an attempt whose create was never answered; the workflow calls it only after the create deadline. */
export function createResolveAttempt(dependencies: ActivityDependencies): ProviderActivities['resolveAttempt'] {
  const { db, settings, now, log } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
    if (attempt.providerBatchId !== null) return { kind: 'accepted' };
    // What comes next the rows say to whoever reads them.
    if (attempt.closedAt !== null || shard.givenUpAt !== null) return { kind: 'not_found' };
    const looking = { job, shard, attempt };
    let candidates: NativeBatch[];
    try {
      if (await adoptChosen(dependencies, looking)) return { kind: 'accepted' };
      candidates = await findCandidates(dependencies, looking);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
      return answerNoLook(dependencies, looking, error);
    }
    const [first, ...others] = candidates;
    if (first === undefined) {
      if (ref.look < LOOKS_BEFORE_NOT_FOUND) return { kind: 'look_again', delayMs: settings.listingLagMs };
      await closeAttempt(db.pool, job.key, attempt, { outcome: 'not_found', now: now() });
      await wakeNext(dependencies, accountOf(attempt, shard), keyOf({ job, shard }));
      log.warn(
        { jobId: job.jobId, shard: shard.shard, attempt: attempt.attempt },
        'create never happened; a new attempt follows',
      );
      return { kind: 'not_found' };
    }
    if (others.length > 0) {
      await showIndeterminate(dependencies, looking, candidates);
      return { kind: 'indeterminate', candidates: candidates.length, delayMs: INDETERMINATE_DELAY_MS };
    }
    await acceptBatch(dependencies, { job, attempt, batch: first, foundByLook: true });
    return { kind: 'accepted' };
  };
}

/** Without a label a provider may name batches that other attempts have: those are none of this one's. */
export async function findCandidates(
  { db, providers }: ActivityDependencies,
  { job, attempt }: Pick<Looking, 'job' | 'attempt'>,
): Promise<NativeBatch[]> {
  const provider = await providers.of(attempt.provider, attempt.credentialId);
  const found = await provider.findBatches({
    attemptToken: attempt.attemptToken,
    inputFileId: attempt.inputFileId,
    itemCount: attempt.itemCount,
    createdAfter: attempt.createStartedAt ?? attempt.createdAt,
    signal: cancellationSignal(),
  });
  const ids = found.map(({ providerBatchId }) => providerBatchId);
  const owned = await listOwned(db.pool, job.key, attempt, ids);
  return found.filter(({ providerBatchId: id }) => !owned.has(id) && !attempt.disownedBatchIds.includes(id));
}

interface Looking {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
}

/** A provider that could not be asked has not been looked at. One that refuses the credential is asked no longer than others are. */
async function answerNoLook(
  { db, settings, now }: ActivityDependencies,
  { job, shard, attempt }: Looking,
  error: ProviderError,
): Promise<ResolveResult> {
  const at = now();
  if (error.code === 'credential_refused') {
    await recordMove(db, job, shard.shard, { state: shard.state, waiting: 'credential_refused', now: at });
    if (await isCredentialWaitOver({ db, settings }, { job, shard, attempt }, at))
      return { kind: 'close', reason: 'credential_refused' };
  }
  return { kind: 'no_answer', delayMs: error.retryAfterMs ?? settings.listingLagMs };
}

async function showIndeterminate(
  { db, now }: ActivityDependencies,
  { job, shard, attempt }: Looking,
  candidates: readonly NativeBatch[],
): Promise<void> {
  const shown = candidates.map((batch) => ({
    provider_batch_id: batch.providerBatchId,
    native_status: batch.nativeStatus,
    created_at: batch.createdAt?.toISOString() ?? null,
    native_request_counts: batch.nativeCounts,
  }));
  await recordCandidates(db.pool, job.key, attempt, shown);
  await recordMove(db, job, shard.shard, { state: 'indeterminate', waiting: 'confirming_submission', now: now() });
}
