import { listUnansweredCreates, type UnansweredCreate } from '../../db/unanswered-creates.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

/** Beyond the deadline and the listing lag, several looks at the provider's list later. */
const GRACE_MS = 10 * 60_000;
const MAX_CREATES = 500;

/** Creates that nobody answered and whose batch nobody has found or given up by now: never sent again from here. */
export function createSweepCreates(dependencies: ActivityDependencies): MaintenanceActivities['sweepCreates'] {
  const { db, now, settings, workflows } = dependencies;
  return async () => {
    const before = new Date(now().getTime() - settings.listingLagMs - GRACE_MS);
    return sweepEach(
      dependencies,
      await listUnansweredCreates(db.pool, before, MAX_CREATES),
      nameOf,
      async (create) => {
        const { jobId, tenantId, shard, attempt, provider, createDeadline, isIndeterminate } = create;
        const facts = { shard, attempt, provider, create_deadline: createDeadline.toISOString() };
        const finding = { subject: nameOf(create), jobId, tenantId, facts };
        if (isIndeterminate) return { ...finding, kind: 'create_indeterminate', repair: 'nothing' };
        await workflows.wakeShard(jobId, shard);
        return { ...finding, kind: 'create_unanswered', repair: 'asked' };
      },
    );
  };
}

function nameOf({ jobId, shard, attempt }: UnansweredCreate): string {
  return `${jobId}/${shard}/${attempt}`;
}
