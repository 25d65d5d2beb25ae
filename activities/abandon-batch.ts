import { type AttemptRow, findLastAttempt } from '../db/attempts.ts';
import { getJobRow, type JobRow } from '../db/job-rows.ts';
import { insertOperatorAct } from '../db/operator-acts.ts';
import { getShard, type ShardRow } from '../db/shards.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { acceptBatch } from './accept-batch.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { cancellationSignal } from './heartbeats.ts';
import type { ProviderActivities } from './interfaces.ts';
import { findCandidates } from './resolve-attempt.ts';

interface Abandoned {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
}

/** What became of the cancel, for the operator who gave the shard up. */
type Outcome = 'no_batch' | 'ended' | 'asked' | 'not_taken';

/**
 * Asks once for the cancel of what may still run for a shard that nobody will wait for. A batch whose create was never
 * answered is looked for once. Whatever the provider says, the shard is closed after it.
 */
export function createAbandonBatch(dependencies: ActivityDependencies): ProviderActivities['abandonBatch'] {
  const { db, log } = dependencies;
  return async (ref) => {
    const job = await getJobRow(db.pool, ref.jobId);
    const shard = await getShard(db.pool, job.key, ref.shard);
    const attempt = await findLastAttempt(db.pool, job.key, ref.shard);
    const { id, outcome } =
      attempt === null || attempt.closedAt !== null
        ? { id: attempt?.providerBatchId ?? null, outcome: 'no_batch' as const }
        : await abandon(dependencies, { job, shard, attempt });
    await insertOperatorAct(db.pool, job.key.uuid, {
      ...{ act: 'gave_up', shard: ref.shard, actor: 'gateway', reason: null },
      details: { provider_batch_id: id, cancel: outcome },
    });
    log.info({ jobId: ref.jobId, shard: ref.shard, cancel: outcome }, 'batch abandoned');
    return { asked: outcome === 'asked' };
  };
}

async function abandon(
  dependencies: ActivityDependencies,
  abandoned: Abandoned,
): Promise<{ id: string | null; outcome: Outcome }> {
  const { attempt } = abandoned;
  let id = attempt.providerBatchId;
  try {
    id ??= attempt.createStartedAt === null ? null : await look(dependencies, abandoned);
    if (id === null) return { id, outcome: 'no_batch' };
    if (attempt.endedAt !== null) return { id, outcome: 'ended' };
    const provider = await dependencies.providers.of(attempt.provider, attempt.credentialId);
    await provider.cancelBatch({ providerBatchId: id, signal: cancellationSignal() });
    return { id, outcome: 'asked' };
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
    return { id, outcome: 'not_taken' };
  }
}

/** Only one that nothing else can be is cancelled: it might be another's. */
async function look(dependencies: ActivityDependencies, abandoned: Abandoned): Promise<string | null> {
  const { job, attempt } = abandoned;
  const [batch, ...others] = await findCandidates(dependencies, abandoned);
  if (batch === undefined || others.length > 0) return null;
  await acceptBatch(dependencies, { job, attempt, batch, foundByLook: true });
  return batch.providerBatchId;
}
