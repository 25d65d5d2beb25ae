import { findHoldOfJob } from '../db/legal-holds.ts';
import {
  type DueJob,
  endDeletion,
  listAttemptsWithFiles,
  postponeDeletion,
  recordFilesDeleted,
} from '../db/provider-files.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat, cancellationSignal } from './heartbeats.ts';
import { raiseOverdue } from './overdue-deletion.ts';

const MAX_ATTEMPTS_OF_JOB = 500;
/** A provider that is away, or refuses, is asked again after it. */
const POSTPONE_MS = 3_600_000;

type Dependencies = Pick<ActivityDependencies, 'db' | 'providers' | 'now' | 'log'>;

/** Deletes what the providers have of a job. False where it has to be tried again. */
export async function deleteFiles(dependencies: Dependencies, job: DueJob): Promise<boolean> {
  const { db, providers, now, log } = dependencies;
  const { key, jobId, retrievalDeadline } = job;
  // The list was read a while ago.
  if ((await findHoldOfJob(db.pool, key.uuid)) !== null) return false;
  const attempts = await listAttemptsWithFiles(db.pool, key, MAX_ATTEMPTS_OF_JOB);
  let refusals = 0;
  for (const attempt of attempts) {
    beat();
    try {
      const provider = await providers.of(attempt.provider, attempt.credentialId);
      await provider.deleteFiles({ files: attempt, signal: cancellationSignal() });
      await recordFilesDeleted(db.pool, key, attempt, now());
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
      refusals += 1;
      const facts = { jobId, shard: attempt.shard, attempt: attempt.attempt, code: error.code, status: error.status };
      log.warn(facts, 'files were not deleted at the provider');
    }
  }
  const isGoneAnyhow = retrievalDeadline !== null && retrievalDeadline <= now();
  const isDone = attempts.length < MAX_ATTEMPTS_OF_JOB && (refusals === 0 || isGoneAnyhow);
  if (isDone) await endDeletion(db.pool, key, now());
  else {
    const until = refusals === 0 ? now() : new Date(now().getTime() + POSTPONE_MS);
    const failures = await postponeDeletion(db.pool, key, until, { hasFailed: refusals > 0 });
    await raiseOverdue(dependencies, { ...job, what: 'provider_files', failures });
  }
  if (isDone) log.info({ jobId, attempts: attempts.length }, 'files deleted at the provider');
  return isDone;
}
