import { createAbandonBatch } from './abandon-batch.ts';
import { createCancelAttempt } from './cancel-attempt.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createDocumentRunActivities } from './documents/create-document-activities.ts';
import { translateFailures } from './failures.ts';
import { createIngestAttempt } from './ingest-attempt.ts';
import type { DocumentRunActivities, JobActivities, ProviderActivities, ShardActivities } from './interfaces.ts';
import { createJobActivities } from './job.ts';
import { createPollAttempt } from './poll-attempt.ts';
import { createRereadResults } from './reread-results.ts';
import { createResolveAttempt } from './resolve-attempt.ts';
import { createShardActivities } from './shard.ts';
import { createSubmitAttempt } from './submit-attempt.ts';

/** Activities that speak to Postgres alone: the database queue's. */
export function createDatabaseActivities(
  dependencies: ActivityDependencies,
): JobActivities & ShardActivities & DocumentRunActivities {
  return translateFailures({
    ...createJobActivities(dependencies),
    ...createShardActivities(dependencies),
    ...createDocumentRunActivities(dependencies),
  });
}

/** Activities that call a provider: the same on every provider's queue. */
export function createProviderActivities(dependencies: ActivityDependencies): ProviderActivities {
  const { transfers } = dependencies;
  const submitAttempt = createSubmitAttempt(dependencies);
  const ingestAttempt = createIngestAttempt(dependencies);
  const rereadResults = createRereadResults(dependencies);
  return translateFailures<ProviderActivities>({
    submitAttempt: (ref) => transfers.run(() => submitAttempt(ref)),
    ingestAttempt: (ref) => transfers.run(() => ingestAttempt(ref)),
    rereadResults: (ref) => transfers.run(() => rereadResults(ref)),
    abandonBatch: createAbandonBatch(dependencies),
    resolveAttempt: createResolveAttempt(dependencies),
    pollAttempt: createPollAttempt(dependencies),
    cancelAttempt: createCancelAttempt(dependencies),
  });
}
