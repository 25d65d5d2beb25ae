import { requireActiveAccount } from '../../db/account-standing.ts';
import { insertEvent } from '../../db/events.ts';
import { claimSubmission, hasTimeLeft, lockJobInScope } from '../../db/job-changes.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { handOver, type SubmitDependencies, type SubmitRequest } from './hand-over.ts';
import { once } from './once.ts';
import { getOwnedJob, noSuchJob, tenantScope } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

export interface SubmitAnswer {
  /** 202: this call submitted, or repeats one that did. 200: the job had been submitted before. */
  readonly status: 200 | 202;
  readonly job: JobRecord;
  readonly replayed: boolean;
}

/**
 * Locks the manifest by one conditional update, hands the job to its workflow and waits for the verdict. Throws the
 * refusal itself (`budget_exceeded`, `model_unknown`, …), `empty_job`, `tenant_suspended`, `deadline_passed`, `conflict` for a
 * cancelled draft, or
 * `dependency_unavailable` once a submission that no workflow has claimed is taken back.
 */
export async function submitJob(dependencies: SubmitDependencies, request: SubmitRequest): Promise<SubmitAnswer> {
  const { submissionNo, replayed } = await claim(dependencies, request);
  if (submissionNo === null) return { status: 200, job: await getOwnedJob(dependencies, request), replayed };
  return { status: 202, job: await handOver(dependencies, request, { submissionNo, replayed }), replayed };
}

/** The submission this call, or the one it repeats, made; null when the job had been submitted before. */
async function claim(
  { db, now }: SubmitDependencies,
  { principal, jobId, idempotency }: SubmitRequest,
): Promise<{ readonly submissionNo: number | null; readonly replayed: boolean }> {
  const { body, replayed } = await inTransaction(
    db,
    (client) =>
      once(client, idempotency, async () => {
        const job = await lockJobInScope(client, tenantScope(principal), jobId);
        if (job === null) throw noSuchJob();
        const at = now();
        if (job.state === 'draft') await requireActiveAccount(client, job);
        if (job.state === 'draft' && !(await hasTimeLeft(client, job.uuid, at))) throw deadlinePassed();
        const submissionNo = await claimSubmission(client, job.uuid, { by: principal.keyId, now: at });
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
  if (job.state === 'draft') throw emptyJob();
  if (!job.wasSubmitted) throw new GatewayError('conflict', `The job is ${job.state} and was never submitted.`);
  return { submissionNo: null };
}

export function emptyJob(): GatewayError {
  return new GatewayError('empty_job', 'The job has no items. Append items before you submit it.', { field: 'items' });
}

/** A draft's times cannot be changed: it can only be made anew. */
export function deadlinePassed(): GatewayError {
  return new GatewayError(
    'deadline_passed',
    'The deadline of the job has passed. Make a new one with a later deadline.',
    {
      field: 'execution.deadline',
    },
  );
}
