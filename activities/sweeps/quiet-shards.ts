import { listQuietShards, type QuietShard } from '../../db/quiet-shards.ts';
import type { NewFinding } from '../../db/sweep-findings.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

/** Longer than a job trusts its shards' signals before it looks by itself, so that it may have helped already. */
const QUIET_MS = 10 * 60_000;
const MAX_SHARDS = 500;

/**
 * Shards without a sign of life: one whose workflow is gone is started again by its job, one that is past the poll it
 * had announced is woken. A long upload or download gives no sign either, and is left alone.
 */
export function createSweepShards(dependencies: ActivityDependencies): MaintenanceActivities['sweepShards'] {
  const { db, now } = dependencies;
  return async () => {
    const shards = await listQuietShards(db.pool, new Date(now().getTime() - QUIET_MS), MAX_SHARDS);
    return sweepEach(
      dependencies,
      shards,
      ({ jobId, shard }) => `${jobId}/${shard}`,
      (shard) => look(dependencies, shard),
    );
  };
}

async function look({ workflows }: ActivityDependencies, quiet: QuietShard): Promise<NewFinding | null> {
  const { jobId, tenantId, shard, state, nextPollAt, lastSign } = quiet;
  const finding = {
    subject: `${jobId}/${shard}`,
    jobId,
    tenantId,
    facts: { shard, state, last_sign_at: lastSign.toISOString() },
    repair: 'asked' as const,
  };
  if (!(await workflows.isShardRunning(jobId, shard))) {
    // A job without a workflow is found as such, and starts its shards.
    return (await workflows.wakeJob(jobId)) ? { ...finding, kind: 'shard_without_workflow' } : null;
  }
  if (nextPollAt === null) return null;
  await workflows.wakeShard(jobId, shard);
  return { ...finding, kind: 'poll_overdue' };
}
