import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { releaseIdempotencyKey } from '../../db/idempotency-release.ts';
import { undoSubmission } from '../../db/job-changes.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { findSubmission } from '../../db/submissions.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { refusedAs } from '../presentation/refusal.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';

export interface SubmitRequest extends JobRequest {
  readonly waitMs: number;
  readonly idempotency: IdempotentRequest | null;
}

export type SubmitDependencies = Pick<ApiDependencies, 'db' | 'now' | 'workflows' | 'logger'>;

/**
 * Hands a claimed submission to the job's workflow and waits for the verdict; the answer is the job as that left it, or as
 * it is while there is none. Throws the refusal itself, or `dependency_unavailable` once a submission that no workflow has
 * claimed is taken back. `replayed`: by a repetition of the call that claimed it, which takes nothing back.
 */
export async function handOver(
  dependencies: SubmitDependencies,
  request: SubmitRequest,
  { submissionNo, replayed }: { readonly submissionNo: number; readonly replayed: boolean },
): Promise<JobRecord> {
  const job = await getOwnedJob(dependencies, request);
  if (!awaitsVerdict(job, submissionNo)) return judged(dependencies, request, { job, submissionNo });
  const outcome = await dependencies.workflows.submit({ ...job, model: job.requestedModel }, request.waitMs);
  if (outcome.kind === 'unreachable' && !replayed && (await takeBack(dependencies, request, job))) {
    throw takenBack();
  }
  return judged(dependencies, request, { job: await getOwnedJob(dependencies, request), submissionNo });
}

/** A cancel in between changes nothing: its workflow has still to end the job. */
function awaitsVerdict(job: JobRecord, submissionNo: number): boolean {
  const isOpen = job.state === 'validating' || job.state === 'cancel_requested';
  return isOpen && job.submissionNo === submissionNo && job.admittedAt === null;
}

/**
 * The job as the verdict on the submission left it, or as it is while there is none. Throws the refusal, `not_found` for
 * a refused sample that was taken away since it was read, or `dependency_unavailable` where the call that is repeated here
 * has taken the submission back in the meantime.
 */
async function judged(
  dependencies: SubmitDependencies,
  request: SubmitRequest,
  { job, submissionNo }: { readonly job: JobRecord; readonly submissionNo: number },
): Promise<JobRecord> {
  const submission = await findSubmission(dependencies.db.pool, job, submissionNo);
  if (submission?.refusal) throw refusedAs(submission.refusal);
  if (submission !== null || job.state !== 'draft') return job;
  const current = await getOwnedJob(dependencies, request);
  if (current.state === 'draft') throw takenBack();
  return current;
}

function takenBack(): GatewayError {
  return new GatewayError(
    'dependency_unavailable',
    'Temporal cannot be reached. The job is a draft again; submit it later.',
    { retryAfterSeconds: 5 },
  );
}

async function takeBack(
  { db, logger }: SubmitDependencies,
  { idempotency }: SubmitRequest,
  job: JobRecord,
): Promise<boolean> {
  const undone = await inTransaction(db, async (client) => {
    const isUndone = await undoSubmission(client, job.uuid, job.submissionNo);
    if (isUndone && idempotency !== null) await releaseIdempotencyKey(client, idempotency);
    return isUndone;
  });
  logger.warn({ job_id: job.jobId, submission_no: job.submissionNo, undone }, 'submission reached no workflow');
  return undone;
}
