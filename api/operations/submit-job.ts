import { insertEvent } from '../../db/events.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { releaseIdempotencyKey } from '../../db/idempotency-release.ts';
import { claimSubmission, lockJobInScope, undoSubmission } from '../../db/job-changes.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { findSubmission } from '../../db/submissions.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { refusedAs } from '../presentation/refusal.ts';
import { once } from './once.ts';
import { getOwnedJob, type JobRequest, noSuchJob, tenantScope } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

export interface SubmitRequest extends JobRequest {
  readonly waitMs: number;
  readonly idempotency: IdempotentRequest | null;
}

export interface SubmitAnswer {
  /** 202: this call submitted, or repeats one that did. 200: the job had been submitted before. */
  readonly status: 200 | 202;
  readonly job: JobRecord;
  readonly replayed: boolean;
}

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'workflows' | 'logger'>;

/**
 * Locks the manifest by one conditional update, hands the job to its workflow and waits for the verdict. Throws the
 * refusal itself (`budget_exceeded`, `model_unknown`, …), `empty_job`, `conflict` for a cancelled draft, or
 * `dependency_unavailable` once a submission that no workflow has claimed is taken back.
 */
export async function submitJob(dependencies: Dependencies, request: SubmitRequest): Promise<SubmitAnswer> {
  const { submissionNo, replayed } = await claim(dependencies, request);
  const job = await getOwnedJob(dependencies, request);
  if (submissionNo === null) return { status: 200, job, replayed };
  if (!awaitsVerdict(job, submissionNo))
    return { status: 202, job: await judged(dependencies, job, submissionNo), replayed };
  const outcome = await dependencies.workflows.submit({ ...job, model: job.requestedModel }, request.waitMs);
  if (outcome.kind === 'unreachable' && !replayed && (await takeBack(dependencies, request, job))) {
    throw new GatewayError(
      'dependency_unavailable',
      'Temporal cannot be reached. The job is a draft again; submit it later.',
      {
        retryAfterSeconds: 5,
      },
    );
  }
  return {
    status: 202,
    job: await judged(dependencies, await getOwnedJob(dependencies, request), submissionNo),
    replayed,
  };
}

/** A cancel in between changes nothing: its workflow has still to end the job. */
function awaitsVerdict(job: JobRecord, submissionNo: number): boolean {
  const isOpen = job.state === 'validating' || job.state === 'cancel_requested';
  return isOpen && job.submissionNo === submissionNo && job.admittedAt === null;
}

/** The submission this call, or the one it repeats, made; null when the job had been submitted before. */
async function claim(
  { db, now }: Dependencies,
  { principal, jobId, idempotency }: SubmitRequest,
): Promise<{ readonly submissionNo: number | null; readonly replayed: boolean }> {
  const { body, replayed } = await inTransaction(
    db,
    (client) =>
      once(client, idempotency, async () => {
        const job = await lockJobInScope(client, tenantScope(principal), jobId);
        if (job === null) throw noSuchJob();
        const submissionNo = await claimSubmission(client, job.uuid, now());
        if (submissionNo === null) return { status: 200, body: JSON.stringify(requireSubmitted(job)) };
        const data = { job_id: jobId, status: 'validating' };
        await insertEvent(client, { tenantId: job.tenantId, jobId: job.uuid, type: 'batch_job.validating', data });
        return { status: 202, body: JSON.stringify({ submissionNo }) };
      }),
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  return { ...(JSON.parse(body) as { submissionNo: number | null }), replayed };
}

function requireSubmitted(job: { readonly state: string; readonly wasSubmitted: boolean }): { submissionNo: null } {
  if (job.state === 'draft') {
    throw new GatewayError('empty_job', 'The job has no items. Append items before you submit it.', { field: 'items' });
  }
  if (!job.wasSubmitted) throw new GatewayError('conflict', `The job is ${job.state} and was never submitted.`);
  return { submissionNo: null };
}

/** The job as the verdict on the submission left it, or as it is while there is none. Throws the refusal. */
async function judged({ db }: Dependencies, job: JobRecord, submissionNo: number): Promise<JobRecord> {
  const submission = await findSubmission(db.pool, job, submissionNo);
  if (submission?.refusal) throw refusedAs(submission.refusal);
  return job;
}

async function takeBack(
  { db, logger }: Dependencies,
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
