import { deleteContent, deleteDraft, markContentDeleted } from '../../db/job-deletion.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isTerminal } from '../../domain/job-state.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

/** A draft vanishes; an ended job loses its content and keeps its accounts. Throws `job_not_finished` for any other. */
export async function deleteJob(dependencies: Pick<ApiDependencies, 'db' | 'now'>, request: JobRequest): Promise<void> {
  const { db, now } = dependencies;
  const job = await getOwnedJob(dependencies, request);
  if (job.state === 'draft' && (await deleteDraft(db, job, LOCK_TIMEOUT_MS))) return;
  if (!isTerminal(job.state) || !(await markContentDeleted(db.pool, job, now()))) {
    throw new GatewayError(
      'job_not_finished',
      'The job is being worked on. Cancel it, or delete it once it has ended.',
    );
  }
  await deleteContent(db.pool, job);
}
