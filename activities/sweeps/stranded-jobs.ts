import { listOpenJobs } from '../../db/open-jobs.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

/** A submission younger than this is still being handed over by the api. */
const SETTLING_IN_MS = 15_000;
const MAX_JOBS = 2_000;

/** Starts the workflow of every open job that has none, `validating` ones too, and signals a cancel that may be unheard. */
export function createRecoverJobs(dependencies: ActivityDependencies): MaintenanceActivities['recoverJobs'] {
  const { db, workflows, now } = dependencies;
  return async () => {
    const jobs = await listOpenJobs(db.pool, new Date(now().getTime() - SETTLING_IN_MS), MAX_JOBS);
    let signalled = 0;
    const { repaired, failed } = await sweepEach(
      dependencies,
      jobs,
      ({ jobId }) => jobId,
      async (job) => {
        if (await workflows.start(job)) {
          const { jobId, tenantId, submissionNo, cancelRequested } = job;
          const facts = { submission_no: submissionNo, cancel_requested: cancelRequested };
          return { kind: 'job_without_workflow', subject: jobId, jobId, tenantId, facts, repair: 'done' };
        }
        if (job.cancelRequested) {
          await workflows.signalCancel(job.jobId);
          signalled += 1;
        }
        return null;
      },
    );
    return { started: repaired, signalled, failed };
  };
}
