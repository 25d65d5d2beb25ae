import type { PollNowAccepted } from '../../contracts/operator-job.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { findJob } from '../../db/jobs.ts';
import { listShardViews } from '../../db/operator-job.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Principal } from '../../domain/principal.ts';
import { isShardOpen } from '../../domain/shard-state.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { noSuchJob } from './owned-job.ts';
import { temporalAway } from './temporal-away.ts';

/** Has every open shard of the job ask its provider now. Throws `dependency_unavailable` when Temporal cannot be asked. */
export async function pollNow(
  { db, workflows }: Pick<ApiDependencies, 'db' | 'workflows'>,
  { principal, jobId }: { readonly principal: Principal; readonly jobId: string },
): Promise<PollNowAccepted> {
  const job = await findJob(db.pool, null, jobId);
  if (job === null) throw noSuchJob();
  const shards = await listShardViews(db.pool, job.uuid);
  const open = shards.filter((shard) => isShardOpen(shard.state)).map(({ shard }) => shard);
  const outcome = await inTransaction(db, async (client) => {
    const entry = { act: 'operator.poll_now', actor: principal.keyId, tenantId: job.tenantId, subject: jobId } as const;
    await recordAudit(client, entry);
    // Last: where nobody can be told, nothing was done.
    const told = await workflows.pollNow(job.jobId, open);
    if (told === 'unreachable') throw temporalAway();
    return told;
  });
  return { job_id: job.jobId, signalled: outcome === 'signalled' };
}
