import { listStraySubmissions } from '../../db/stray-holds.ts';
import { releaseStray } from '../../ledger/release-stray.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

const MAX_SUBMISSIONS = 500;

/** Money held for a job that has ended, is a draft again, or is gone: given back, or raised where the sums disagree. */
export function createSweepMoney(dependencies: ActivityDependencies): MaintenanceActivities['sweepMoney'] {
  const { db, now } = dependencies;
  return async () =>
    sweepEach(
      dependencies,
      await listStraySubmissions(db.pool, MAX_SUBMISSIONS),
      ({ jobId }) => jobId,
      async (submission) => {
        const { jobId, submissionNo } = submission;
        const release = await releaseStray(db, submission, now());
        if (release === null) return null;
        const { tenantId, isReleased, facts } = release;
        const subject = `${jobId}#${submissionNo}`;
        return {
          kind: 'held_without_job',
          subject,
          jobId,
          tenantId,
          facts,
          repair: isReleased ? 'done' : 'nothing',
        };
      },
    );
}
