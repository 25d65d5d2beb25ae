import { holdShards } from '../db/held-shards.ts';
import { getJobRow, type JobRow, lockJobRow } from '../db/job-rows.ts';
import { insertShards, listShards, type PlannedShard, refreshJobState } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { heldForMs } from '../domain/execution-times.ts';
import { cutItems } from './cut-items.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { JobActivities } from './interfaces.ts';

/** Cuts the job into shards. Idempotent: the first plan stands. */
export function createPlanShards(dependencies: ActivityDependencies): JobActivities['planShards'] {
  const { db, now, log } = dependencies;
  return async ({ jobId }) => {
    const job = await getJobRow(db.pool, jobId);
    const existing = await listShards(db.pool, job.key);
    if (existing.length > 0) return { shards: existing.length };
    const items = { firstItemNo: job.firstItemNo, lastItemNo: job.firstItemNo + job.itemCount - 1 };
    const shards = await cutItems(db.pool, dependencies, job, { ...items, shardsBefore: 0 });
    const count = await inTransaction(db, (client) => storePlan(client, jobId, shards, now()));
    log.info({ jobId, shards: count }, 'shards planned');
    return { shards: count };
  };
}

async function storePlan(
  client: Parameters<typeof insertShards>[0],
  jobId: string,
  shards: readonly PlannedShard[],
  at: Date,
): Promise<number> {
  const job: JobRow = await lockJobRow(client, jobId);
  const existing = await listShards(client, job.key);
  if (existing.length > 0) return existing.length;
  await insertShards(client, job.key, shards);
  if (heldForMs(job, at) > 0) await holdShards(client, job, at);
  await refreshJobState(client, job);
  return shards.length;
}
