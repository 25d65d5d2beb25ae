import { listPassedDeadlines } from '../../db/passed-deadlines.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

/** Shards look at the clock by themselves at the deadline; this long after it one has slept through it. */
const GRACE_MS = 10 * 60_000;
const MAX_JOBS = 500;

/** Jobs past their own deadline of which some shard was not touched since: the job is woken, and wakes its shards. */
export function createSweepDeadlines(dependencies: ActivityDependencies): MaintenanceActivities['sweepDeadlines'] {
  const { db, now, workflows } = dependencies;
  return async () => {
    const jobs = await listPassedDeadlines(db.pool, new Date(now().getTime() - GRACE_MS), MAX_JOBS);
    return sweepEach(
      dependencies,
      jobs,
      ({ jobId }) => jobId,
      async ({ jobId, tenantId, deadline, shards }) => {
        // One without a workflow is found as such.
        if (!(await workflows.wakeJob(jobId))) return null;
        const facts = { deadline: deadline.toISOString(), shards };
        return { kind: 'deadline_passed', subject: jobId, jobId, tenantId, facts, repair: 'asked' };
      },
    );
  };
}
