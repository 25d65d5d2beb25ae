import type pg from 'pg';
import { requireActiveAccount } from '../../db/account-standing.ts';
import { insertEvent } from '../../db/events.ts';
import { releaseIdempotencyKey } from '../../db/idempotency-release.ts';
import { newId } from '../../db/ids.ts';
import { lockIntakeJob } from '../../db/intake-job.ts';
import { claimSubmission, hasTimeLeft } from '../../db/job-changes.ts';
import { deleteDraftRows } from '../../db/job-deletion.ts';
import { insertSample } from '../../db/job-sample.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { findJob } from '../../db/jobs.ts';
import { requireCapsOfNewJob } from '../../db/tenant-caps.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { chooseSample } from '../../domain/sample.ts';
import { handOver, type SubmitDependencies, type SubmitRequest } from './hand-over.ts';
import { once } from './once.ts';
import { noSuchJob, tenantScope } from './owned-job.ts';
import { deadlinePassed, emptyJob } from './submit-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

export interface SubmitSampleRequest extends SubmitRequest {
  /** How many items; all of them where the draft has fewer. */
  readonly items: number;
}

/**
 * Makes a job of some of a draft's items and submits it like any other; the draft stays one. Where that is refused, or
 * reaches no workflow, nothing is left of the sample, and the call may be repeated with its key. Throws as `submitJob`
 * does, or `job_not_draft`, `quota_exceeded`.
 */
export async function submitSample(
  dependencies: SubmitDependencies,
  request: SubmitSampleRequest,
): Promise<{ readonly job: JobRecord; readonly replayed: boolean }> {
  for (let lastGone = ''; ; ) {
    const { jobId, submissionNo, replayed } = await claimSample(dependencies, request);
    const ofSample = { ...request, jobId };
    try {
      return { job: await handOver(dependencies, ofSample, { submissionNo, replayed }), replayed };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (!replayed) await discard(dependencies, ofSample);
      // Where the call this one repeats was refused meanwhile, its sample is gone and so is its key: this one may be the
      // first now. One that is gone under the same key was deleted by its owner.
      if (!replayed || error.code !== 'not_found' || jobId === lastGone) throw error;
      lastGone = jobId;
    }
  }
}

interface Claimed {
  readonly jobId: string;
  readonly submissionNo: number;
}

/** The sample this call, or the one it repeats, made. */
async function claimSample(
  { db, now }: SubmitDependencies,
  request: SubmitSampleRequest,
): Promise<Claimed & { readonly replayed: boolean }> {
  const { body, replayed } = await inTransaction(
    db,
    (client) =>
      once(client, request.idempotency, async () => {
        const claimed = await makeSample(client, request, now());
        return { status: 202, body: JSON.stringify(claimed) };
      }),
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  return { ...(JSON.parse(body) as Claimed), replayed };
}

async function makeSample(
  client: pg.PoolClient,
  { principal, jobId: draftId, items }: SubmitSampleRequest,
  at: Date,
): Promise<Claimed> {
  const scope = tenantScope(principal);
  const draft = await lockIntakeJob(client, scope, draftId);
  if (draft === null) throw noSuchJob();
  if (draft.state !== 'draft') {
    throw new GatewayError('job_not_draft', `The job is ${draft.state}; only a draft can be sampled.`);
  }
  await requireActiveAccount(client, draft);
  if (draft.itemCount === 0) throw emptyJob();
  const itemNos = chooseSample(draft.itemCount, items).map((position) => draft.firstItemNo + position);
  const jobId = newId('job');
  const uuid = await insertSample(client, draft, { jobId, itemNos, createdAt: at });
  if (!(await hasTimeLeft(client, uuid, at))) throw deadlinePassed();
  const submissionNo = await claimSubmission(client, uuid, { by: principal.keyId, now: at });
  if (submissionNo === null) throw new Error('a sample with items was not claimed');
  const data = { job_id: jobId, status: 'validating' };
  await insertEvent(client, { tenantId: scope.tenantId, jobId: uuid, type: 'batch_job.validating', data });
  await requireCapsOfNewJob(client, draft.tenantId, uuid);
  return { jobId, submissionNo };
}

/** A sample that is not a draft (any more) is left alone. */
async function discard({ db }: SubmitDependencies, { principal, jobId, idempotency }: SubmitRequest): Promise<void> {
  await inTransaction(db, async (client) => {
    const sample = await findJob(client, tenantScope(principal), jobId);
    if (sample === null || !(await deleteDraftRows(client, sample))) return;
    if (idempotency !== null) await releaseIdempotencyKey(client, idempotency);
  });
}
