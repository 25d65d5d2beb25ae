import type { PollNowAccepted } from '../../contracts/operator-job.ts';
import { findJob } from '../../db/jobs.ts';
import { listShardViews } from '../../db/operator-job.ts';
import { isShardOpen } from '../../domain/shard-state.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { noSuchJob } from './owned-job.ts';
import { temporalAway } from './temporal-away.ts';

/** Has every open shard of the job ask its provider now. Throws `dependency_unavailable` when Temporal cannot be asked. */
export async function pollNow(
  { db, workflows }: Pick<ApiDependencies, 'db' | 'workflows'>,
  jobId: string,
): Promise<PollNowAccepted> {
  const job = await findJob(db.pool, null, jobId);
  if (job === null) throw noSuchJob();
  const shards = await listShardViews(db.pool, job.uuid);
  const open = shards.filter((shard) => isShardOpen(shard.state)).map(({ shard }) => shard);
  const outcome = await workflows.pollNow(job.jobId, open);
  if (outcome === 'unreachable') throw temporalAway();
  return { job_id: job.jobId, signalled: outcome === 'signalled' };
}
