import { getAttempt } from '../db/attempts.ts';
import { getJobRow } from '../db/job-rows.ts';
import { recordNativeErrors } from '../db/native-errors.ts';
import { getShard } from '../db/shards.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { answerInTime } from './answer-in-time.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { ProviderActivities } from './interfaces.ts';
import { recordMove } from './record-move.ts';

/** Asks for the cancel once. A provider that refuses or stays silent is asked again by the workflow, between polls. */
export function createCancelAttempt({
  db,
  providers,
  now,
  log,
}: ActivityDependencies): ProviderActivities['cancelAttempt'] {
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
    const { providerBatchId } = attempt;
    if (providerBatchId === null) return { accepted: false };
    const provider = await providers.of(attempt.provider, attempt.credentialId);
    try {
      const batch = await answerInTime((signal) => provider.cancelBatch({ providerBatchId, signal }));
      log.info({ jobId: ref.jobId, shard: ref.shard, nativeStatus: batch.nativeStatus }, 'cancel asked for');
      return { accepted: true };
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
      log.warn({ jobId: ref.jobId, shard: ref.shard, code: error.code, status: error.status }, 'cancel not accepted');
      await recordNativeErrors(db.pool, job, attempt, [
        { code: error.code, status: error.status, message: error.message, at: now() },
      ]);
      if (error.code === 'credential_refused') {
        const { state } = await getShard(db.pool, job.key, ref.shard);
        await recordMove(db, job, ref.shard, { state, waiting: 'credential_refused', now: now() });
      }
      return { accepted: false };
    }
  };
}
