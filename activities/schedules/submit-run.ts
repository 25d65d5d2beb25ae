import { insertEvent } from '../../db/events.ts';
import { claimSubmission, hasTimeLeft } from '../../db/job-changes.ts';
import { findLockedJobRow, type JobRow } from '../../db/job-rows.ts';
import { findRun, type RunError } from '../../db/schedule-runs.ts';
import { findSubmission } from '../../db/submissions.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ScheduleActivities } from '../interfaces.ts';
import type { ScheduleDependencies } from './dependencies.ts';
import { end } from './run-end.ts';

const NOT_FOUND: RunError = { code: 'not_found', message: 'The draft was deleted meanwhile.' };
const EMPTY: RunError = { code: 'empty_job', message: 'There were no items to make a job of.' };
const LATE: RunError = { code: 'deadline_passed', message: 'The deadline passed before the job was submitted.' };

type Found =
  | { readonly kind: 'failed'; readonly error: RunError }
  | { readonly kind: 'submitted' }
  | { readonly kind: 'claimed'; readonly job: JobRow; readonly submissionNo: number };

/**
 * Submits the firing's draft by the claim that every submit makes, hands it to its workflow, and says once there is a
 * verdict. May be repeated until then.
 */
export function createSubmitRun(dependencies: ScheduleDependencies): ScheduleActivities['submitRun'] {
  const { db, workflows, now } = dependencies;
  return async (firing) => {
    const run = await findRun(db.pool, firing.scheduleId, firing.firing);
    if (run?.outcome != null) return { kind: 'over', outcome: run.outcome };
    if (run?.jobId == null) return end(dependencies, firing, 'failed', NOT_FOUND);
    const found = await claim(dependencies, run.jobId);
    if (found.kind === 'failed') return end(dependencies, firing, 'failed', found.error);
    if (found.kind === 'submitted') return end(dependencies, firing, 'submitted');
    const { jobId, tenantId, customerId, requestedModel: model, itemCount } = found.job;
    await workflows.start({
      ...{ jobId, tenantId, customerId, model, itemCount, submissionNo: found.submissionNo },
      submittedAt: found.job.submittedAt ?? now(),
      cancelRequested: false,
    });
    return { kind: 'go_on' };
  };
}

async function claim({ db, now }: ScheduleDependencies, jobId: string): Promise<Found> {
  return inTransaction(db, async (client): Promise<Found> => {
    const job = await findLockedJobRow(client, jobId);
    if (job === null) return { kind: 'failed', error: NOT_FOUND };
    const verdict = await findSubmission(client, job.key, job.submissionNo);
    if (verdict?.accepted === true) return { kind: 'submitted' };
    if (verdict !== null) return { kind: 'failed', error: asRunError(verdict.refusal) };
    // Whatever its owner has done with it meanwhile is no failure of the run.
    if (job.state === 'validating') return { kind: 'claimed', job, submissionNo: job.submissionNo };
    if (job.state !== 'draft') return { kind: 'submitted' };
    const at = now();
    if (job.itemCount === 0) return { kind: 'failed', error: EMPTY };
    if (!(await hasTimeLeft(client, job.key.uuid, at))) return { kind: 'failed', error: LATE };
    const submissionNo = await claimSubmission(client, job.key.uuid, { by: job.apiKeyId, now: at });
    if (submissionNo === null) throw new Error(`draft ${jobId} with items was not claimed`);
    const data = { job_id: jobId, status: 'validating' };
    const event = { tenantId: job.tenantId, jobId: job.key.uuid, type: 'batch_job.validating', data };
    await insertEvent(client, event);
    return { kind: 'claimed', job, submissionNo };
  });
}

/** Refusals are kept as an error envelope. */
function asRunError(refusal: unknown): RunError {
  const told = typeof refusal === 'object' && refusal !== null ? (refusal as Record<string, unknown>) : {};
  const { error, message } = told;
  return {
    code: typeof error === 'string' ? error : 'conflict',
    message: typeof message === 'string' ? message : 'The submit was refused.',
  };
}
