import type { AttemptRow } from '../db/attempts.ts';
import { listOwned } from '../db/creates.ts';
import type { JobRow } from '../db/job-rows.ts';
import { insertOperatorAct } from '../db/operator-acts.ts';
import { chooseBatch } from '../db/shard-marks.ts';
import type { ShardRow } from '../db/shards.ts';
import type { NativeBatch } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { acceptBatch } from './accept-batch.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { cancellationSignal } from './heartbeats.ts';

interface Looking {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
}

interface Choice extends Looking {
  readonly chosen: string;
}

type Objection = 'unknown_to_provider' | 'of_another_attempt' | 'another_size' | 'another_input_file';

/**
 * Takes the batch that an operator chose for an attempt, once the provider has shown it to be one that fits. False where
 * none was chosen, and for one that does not fit: the choice is taken back, and the job's acts say why. Throws {@link ProviderError} where the
 * provider cannot be asked. A batch taken so is still proven, or disowned, by its results.
 */
export async function adoptChosen(dependencies: ActivityDependencies, looking: Looking): Promise<boolean> {
  const { db, log } = dependencies;
  const { job, attempt } = looking;
  const chosen = attempt.chosenBatchId;
  if (chosen === null) return false;
  const choice = { ...looking, chosen };
  const batch = await retrieve(dependencies, choice);
  const objection = batch === null ? 'unknown_to_provider' : await object(dependencies, choice, batch);
  const isAdopted = batch !== null && objection === null;
  if (isAdopted) await acceptBatch(dependencies, { job, attempt, batch, foundByLook: true });
  else await chooseBatch(db.pool, job.key, attempt, null);
  const outcome = isAdopted ? 'adopted' : 'not_adopted';
  await insertOperatorAct(db.pool, job.key.uuid, {
    ...{ act: 'resolved', shard: attempt.shard, actor: 'gateway', reason: null },
    details: { provider_batch_id: chosen, outcome, ...(objection !== null && { objection }) },
  });
  log.info({ jobId: job.jobId, shard: attempt.shard, attempt: attempt.attempt, outcome, objection }, 'batch chosen');
  return isAdopted;
}

async function retrieve({ providers }: ActivityDependencies, { attempt, chosen }: Choice): Promise<NativeBatch | null> {
  try {
    const provider = await providers.of(attempt.provider, attempt.credentialId);
    return await provider.retrieveBatch({ providerBatchId: chosen, signal: cancellationSignal() });
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'not_found') return null;
    throw error;
  }
}

async function object(
  { db }: ActivityDependencies,
  { job, attempt, chosen }: Choice,
  { progress, inputFileId }: NativeBatch,
): Promise<Objection | null> {
  if ((await listOwned(db.pool, job.key, attempt, [chosen])).has(chosen)) return 'of_another_attempt';
  if (progress !== null && progress.total !== attempt.itemCount) return 'another_size';
  // The input file names the endpoint and the items, where there is one.
  const isOther = inputFileId !== null && attempt.inputFileId !== null && inputFileId !== attempt.inputFileId;
  return isOther ? 'another_input_file' : null;
}
