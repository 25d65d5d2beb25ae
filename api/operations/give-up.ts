import type { OperatorActTaken, OperatorGiveUp } from '../../contracts/operator-act.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { lockJobInScope } from '../../db/job-changes.ts';
import { insertOperatorAct } from '../../db/operator-acts.ts';
import { listShardViews } from '../../db/operator-job.ts';
import { markGivenUp } from '../../db/shard-marks.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { isShardOpen } from '../../domain/shard-state.ts';
import { announce } from '../../ledger/announce.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { noSuchJob } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

export interface GiveUpRequest {
  readonly principal: Principal;
  readonly jobId: string;
  readonly wish: OperatorGiveUp;
}

/**
 * Ends the wait for open shards, for good. The marks in the rows are what counts: the workflows are only woken, and find
 * them by themselves otherwise. Throws `conflict` where nothing is open.
 */
export async function giveUp(
  { db, now, workflows, logger }: Pick<ApiDependencies, 'db' | 'now' | 'workflows' | 'logger'>,
  { principal, jobId, wish: { shard: wanted, reason } }: GiveUpRequest,
): Promise<OperatorActTaken> {
  const open = await inTransaction(
    db,
    async (client) => {
      const job = await lockJobInScope(client, null, jobId);
      if (job === null) throw noSuchJob();
      const shards = await listShardViews(client, job.uuid);
      const open = shards
        .filter(({ shard, state }) => isShardOpen(state) && (wanted === undefined || shard === wanted))
        .map(({ shard }) => shard);
      if (open.length === 0) throw new GatewayError('conflict', nothingOpen(wanted));
      const marked = await markGivenUp(client, job, open, now());
      if (marked.length === 0) return open;
      const act = { act: 'give_up', shard: wanted ?? null, actor: principal.keyId, reason } as const;
      await insertOperatorAct(client, job.uuid, { ...act, details: { shards: marked } });
      const entry = {
        act: 'operator.give_up',
        actor: principal.keyId,
        tenantId: job.tenantId,
        subject: jobId,
      } as const;
      await recordAudit(client, { ...entry, details: { shards: marked } });
      // Why is the operators' to know: the act tells it.
      await announce(client, { ...job, jobId, key: job }, 'given_up', { status: job.state });
      return open;
    },
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  const signalled = await workflows.rowsChanged(jobId, open);
  logger.info({ job_id: jobId, shards: open, signalled }, 'shards given up');
  return { job_id: jobId, shards: open, signalled: signalled === 'signalled' };
}

function nothingOpen(shard: number | undefined): string {
  if (shard === undefined) return 'No shard of this job is open: there is nothing to give up.';
  return `Shard ${shard} of this job is not open: there is nothing to give up.`;
}
