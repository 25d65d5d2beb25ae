import type pg from 'pg';
import type { BatchJob } from '../../contracts/job.ts';
import type { RetryJob } from '../../contracts/retry-job.ts';
import { insertEvent } from '../../db/events.ts';
import { newId } from '../../db/ids.ts';
import { claimSubmission } from '../../db/job-changes.ts';
import { deleteDraftRows } from '../../db/job-deletion.ts';
import { findJob } from '../../db/jobs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { presentJob } from '../presentation/job.ts';
import { asShownTo } from './customer-view.ts';
import { handOver, type SubmitDependencies, type SubmitRequest } from './hand-over.ts';
import { makeRetry } from './make-retry.ts';
import { type KeptAnswer, once } from './once.ts';
import { tenantScope } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;
/** Copying the requests of a million items takes minutes. */
const COPY_TIMEOUT_MS = 10 * 60_000;

export interface RetryRequest extends SubmitRequest {
  readonly retry: RetryJob;
  readonly maxRequestBytes: number;
}

/**
 * Makes a job of an ended job's failed items, linked to them; a draft, or submitted at once. A submission that is refused
 * leaves the draft, which the refusal names; one that reaches no workflow leaves nothing. Throws `nothing_to_retry` and the
 * other refusals of `makeRetry`, and what `submitJob` throws.
 */
export async function retryJob(dependencies: SubmitDependencies, request: RetryRequest): Promise<KeptAnswer> {
  const { jobId, submissionNo, draft, replayed } = await claim(dependencies, request);
  if (submissionNo === null) return { status: 201, body: JSON.stringify(draft), replayed };
  const ofRetry = { ...request, jobId };
  try {
    const job = await handOver(dependencies, ofRetry, { submissionNo, replayed });
    return { status: 201, body: JSON.stringify(presentJob(job)), replayed };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code === 'not_found') throw error;
    if (error.code !== 'dependency_unavailable') throw keptAsDraft(error, jobId);
    if (!replayed) await discard(dependencies, ofRetry);
    throw new GatewayError('dependency_unavailable', 'Temporal cannot be reached. Nothing was retried; try later.', {
      retryAfterSeconds: 5,
    });
  }
}

interface Claimed {
  readonly jobId: string;
  /** Null for a draft, */
  readonly submissionNo: number | null;
  /** which is answered as it was made. */
  readonly draft: BatchJob | null;
}

/** The retry this call, or the one it repeats, made. */
async function claim(
  { db, now }: SubmitDependencies,
  request: RetryRequest,
): Promise<Claimed & { readonly replayed: boolean }> {
  const { body, replayed } = await inTransaction(
    db,
    (client) =>
      once(client, request.idempotency, async () => {
        const made = await makeRetry(client, { ...request, newJobId: newId('job'), at: now() });
        return { status: 201, body: JSON.stringify(await submitOrShow(client, request, made, now())) };
      }),
    { lockTimeoutMs: LOCK_TIMEOUT_MS, statementTimeoutMs: COPY_TIMEOUT_MS, setWise: true },
  );
  return { ...(JSON.parse(body) as Claimed), replayed };
}

async function submitOrShow(
  client: pg.PoolClient,
  { principal, retry }: RetryRequest,
  { jobId, uuid }: { readonly jobId: string; readonly uuid: string },
  at: Date,
): Promise<Claimed> {
  const scope = tenantScope(principal);
  if (retry.submit !== true) {
    const draft = await findJob(client, scope, jobId);
    if (draft === null) throw new Error('an inserted job was not found');
    return { jobId, submissionNo: null, draft: presentJob(asShownTo(principal, draft)) };
  }
  const submissionNo = await claimSubmission(client, uuid, { by: principal.keyId, now: at });
  if (submissionNo === null) throw new Error('a retry with items was not claimed');
  const data = { job_id: jobId, status: 'validating' };
  await insertEvent(client, { tenantId: scope.tenantId, jobId: uuid, type: 'batch_job.validating', data });
  return { jobId, submissionNo, draft: null };
}

function keptAsDraft(refusal: GatewayError, jobId: string): GatewayError {
  const { code, message, field, details, detailsCount } = refusal;
  return new GatewayError(code, `${message} The items of the retry are in ${jobId}.`, {
    ...(field !== undefined && { field }),
    ...(details !== undefined && { details }),
    ...(detailsCount !== undefined && { detailsCount }),
    cause: refusal,
  });
}

/** A retry that is no draft (any more) is left alone. */
async function discard({ db }: SubmitDependencies, { principal, jobId }: SubmitRequest): Promise<void> {
  await inTransaction(db, async (client) => {
    const job = await findJob(client, tenantScope(principal), jobId);
    if (job !== null) await deleteDraftRows(client, job);
  });
}
