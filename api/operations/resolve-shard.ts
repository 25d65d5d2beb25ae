import type pg from 'pg';
import type { OperatorActTaken, OperatorResolve } from '../../contracts/operator-act.ts';
import { type AttemptRow, closeAttempt, findLastAttempt } from '../../db/attempts.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { accountOf } from '../../db/capacity-accounts.ts';
import { findJobRow, type JobRow } from '../../db/job-rows.ts';
import { insertOperatorAct } from '../../db/operator-acts.ts';
import { chooseBatch, disownCandidates, listCandidates } from '../../db/shard-marks.ts';
import { findShard, type ShardRow } from '../../db/shards.ts';
import { inTransaction } from '../../db/transaction.ts';
import { findFirstToCreate } from '../../db/waiting-shards.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { noSuchJob } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

export interface ResolveRequest {
  readonly principal: Principal;
  readonly jobId: string;
  readonly wish: OperatorResolve;
}

interface Indeterminate {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  readonly candidates: readonly string[];
}

/**
 * Says by hand which batch is the one of an unanswered create, or that none is. A chosen one is taken once the provider
 * has shown that it fits; after "none" the shard makes a new batch, and the candidates are out of the question for it.
 * Throws `conflict` for a shard that is not `indeterminate`, and for a batch that is no candidate.
 */
export async function resolveShard(
  { db, now, workflows, logger }: Pick<ApiDependencies, 'db' | 'now' | 'workflows' | 'logger'>,
  { principal, jobId, wish }: ResolveRequest,
): Promise<OperatorActTaken> {
  const found = await inTransaction(
    db,
    async (client) => {
      const indeterminate = await findIndeterminate(client, jobId, wish.shard);
      const { job, attempt, candidates } = indeterminate;
      const { provider_batch_id: chosen } = wish;
      if (chosen !== undefined && attempt.chosenBatchId === chosen) return indeterminate;
      if (chosen !== undefined && !candidates.includes(chosen)) throw noCandidate(chosen);
      if (chosen !== undefined) await chooseBatch(client, job.key, attempt, chosen);
      else {
        await closeAttempt(client, job.key, attempt, { outcome: 'not_found', now: now() });
        await disownCandidates(client, job.key, attempt, candidates);
      }
      await insertOperatorAct(client, job.key.uuid, {
        ...{ act: 'resolve', shard: wish.shard, actor: principal.keyId, reason: wish.reason },
        details: chosen === undefined ? { none_of: candidates } : { provider_batch_id: chosen },
      });
      const entry = { actor: principal.keyId, tenantId: job.tenantId, subject: jobId };
      await recordAudit(client, { ...entry, act: 'operator.resolve', details: { shards: [wish.shard] } });
      return indeterminate;
    },
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  const signalled = await workflows.rowsChanged(jobId, [wish.shard]);
  if (wish.none === true) await wakeNextCreate({ db, now, workflows }, found);
  logger.info({ job_id: jobId, shard: wish.shard, none: wish.none === true, signalled }, 'shard resolved by hand');
  return { job_id: jobId, shards: [wish.shard], signalled: signalled === 'signalled' };
}

async function findIndeterminate(client: pg.PoolClient, jobId: string, shardNo: number): Promise<Indeterminate> {
  const job = await findJobRow(client, jobId, 'FOR NO KEY UPDATE');
  if (job === null || job.kind === 'task') throw noSuchJob();
  const shard = await findShard(client, job.key, shardNo);
  const attempt = await findLastAttempt(client, job.key, shardNo);
  const isOpen = attempt !== null && attempt.closedAt === null && attempt.providerBatchId === null;
  if (shard?.state !== 'indeterminate' || !isOpen) {
    throw new GatewayError(
      'conflict',
      `Shard ${shardNo} of this job is not indeterminate: there is nothing to resolve.`,
    );
  }
  return { job, shard, attempt, candidates: await listCandidates(client, job.key, attempt) };
}

function noCandidate(chosen: string): GatewayError {
  return new GatewayError('conflict', `${chosen} is none of the batches that the last look found.`, {
    field: 'provider_batch_id',
  });
}

/** A create that nobody waits for any more held up others under its credential. */
async function wakeNextCreate(
  { db, now, workflows }: Pick<ApiDependencies, 'db' | 'now' | 'workflows'>,
  { job, shard, attempt }: Indeterminate,
): Promise<void> {
  const own = { jobUuid: job.key.uuid, shard: shard.shard };
  const next = await findFirstToCreate(db.pool, accountOf(attempt, shard), own, now());
  if (next !== null) await workflows.pollShard(next.jobId, next.shard);
}
