import { getAttempt } from '../db/attempts.ts';
import { getJobRow } from '../db/job-rows.ts';
import { getShard } from '../db/shards.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { cancellationSignal } from './heartbeats.ts';
import type { ProviderActivities } from './interfaces.ts';
import { getProvider } from './providers.ts';

/** Asks for the cancel once. A provider that refuses or stays silent is asked again by the workflow, between polls. */
export function createCancelAttempt({ db, providers, log }: ActivityDependencies): ProviderActivities['cancelAttempt'] {
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    const attempt = await getAttempt(db.pool, job.key, ref.shard, ref.attempt);
    if (attempt.providerBatchId === null) return { accepted: false };
    try {
      const request = { providerBatchId: attempt.providerBatchId, signal: cancellationSignal() };
      const batch = await getProvider(providers, shard.provider).cancelBatch(request);
      log.info({ jobId: ref.jobId, shard: ref.shard, nativeStatus: batch.nativeStatus }, 'cancel asked for');
      return { accepted: true };
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
      log.warn({ jobId: ref.jobId, shard: ref.shard, code: error.code, status: error.status }, 'cancel not accepted');
      return { accepted: false };
    }
  };
}
