import type pg from 'pg';
import type { OperatorActTaken, OperatorReIngest } from '../../contracts/operator-act.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { lockJobRow } from '../../db/job-rows.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { findJob } from '../../db/jobs.ts';
import { insertOperatorAct } from '../../db/operator-acts.ts';
import { listProviderBatchViews, listShardViews, type ShardView } from '../../db/operator-job.ts';
import { requestReread } from '../../db/shard-marks.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { isShardOpen } from '../../domain/shard-state.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { noSuchJob } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

export interface ReIngestRequest {
  readonly principal: Principal;
  readonly jobId: string;
  readonly wish: OperatorReIngest;
}

/**
 * Has the results of batches read again: for an open shard its ingestion begins anew, for a settled one what is new is
 * kept apart. Throws `conflict` where no shard has a batch, `content_deleted` where the job's content is gone.
 */
export async function reIngest(
  { db, now, workflows, logger }: Pick<ApiDependencies, 'db' | 'now' | 'workflows' | 'logger'>,
  { principal, jobId, wish: { shard: wanted, reason } }: ReIngestRequest,
): Promise<OperatorActTaken> {
  const { job, shards } = await inTransaction(
    db,
    async (client) => {
      const job = await findJob(client, null, jobId);
      if (job === null) throw noSuchJob();
      await lockJobRow(client, jobId);
      if (job.contentDeletedAt !== null)
        throw new GatewayError(
          'content_deleted',
          'The content of this job was deleted: its results are not read again.',
        );
      const shards = await listShardsWithBatch(client, job, wanted);
      if (shards.length === 0) throw new GatewayError('conflict', nothingToRead(wanted));
      await requestReread(client, job, numbersOf(shards), now());
      const act = { act: 're_ingest', shard: wanted ?? null, actor: principal.keyId, reason: reason ?? null } as const;
      await insertOperatorAct(client, job.uuid, { ...act, details: { shards: numbersOf(shards) } });
      const entry = { actor: principal.keyId, tenantId: job.tenantId, subject: jobId };
      await recordAudit(client, { ...entry, act: 'operator.re_ingest', details: { shards: numbersOf(shards) } });
      return { job, shards };
    },
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  const { tenantId, customerId } = job;
  const open = shards.filter(({ state }) => isShardOpen(state));
  const outcomes = [await workflows.rowsChanged(jobId, numbersOf(open))];
  for (const { shard, state, provider, provider_model: providerModel } of shards) {
    if (isShardOpen(state) || outcomes.includes('unreachable')) continue;
    outcomes.push(await workflows.startShard({ jobId, shard, provider, providerModel, tenantId, customerId }));
  }
  const signalled = !outcomes.includes('unreachable');
  logger.info({ job_id: jobId, shards: numbersOf(shards), signalled }, 'results are read again');
  return { job_id: jobId, shards: numbersOf(shards), signalled };
}

async function listShardsWithBatch(
  client: pg.PoolClient,
  { uuid }: JobRecord,
  wanted: number | undefined,
): Promise<ShardView[]> {
  const shards = await listShardViews(client, uuid);
  const batches = await listProviderBatchViews(client, uuid);
  const sent = new Set(batches.filter(({ provider_batch_id: id }) => id !== null).map(({ shard }) => shard));
  return shards.filter(({ shard, state }) => {
    return sent.has(shard) && state !== 'superseded' && (wanted === undefined || shard === wanted);
  });
}

function numbersOf(shards: readonly ShardView[]): number[] {
  return shards.map(({ shard }) => shard);
}

function nothingToRead(shard: number | undefined): string {
  return shard === undefined ? 'No shard of this job has a batch to read.' : `Shard ${shard} has no batch to read.`;
}
