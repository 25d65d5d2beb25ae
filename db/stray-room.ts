import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import { jobIdOf } from './ids.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** An attempt that still counts as under way although its shard or job is over. */
export interface StrayAttempt {
  readonly jobId: string;
  readonly jobUuid: string;
  readonly tenantId: string;
  readonly shard: number;
  readonly attempt: number;
  readonly provider: Provider;
  readonly providerModel: string;
  readonly credentialId: string;
}

const IS_OVER = `(s.state IN ('settled', 'superseded') OR j.state IN ('completed', 'completed_with_errors', 'expired', 'cancelled', 'failed'))`;

/** It holds room in the provider's queue and, where its create went unanswered, the turn of every other create. */
export async function listStrayAttempts(db: Queryable, limit: number): Promise<StrayAttempt[]> {
  const { rows } = await db.query(
    `SELECT m.job_id, j.kind, j.tenant_id, m.shard, m.attempt, m.provider, s.provider_model, m.credential_id
     FROM batch_provider_metadata m
     JOIN batch_shards s ON s.job_id = m.job_id AND s.shard = m.shard
     JOIN batch_jobs j ON j.job_id = m.job_id AND j.price_mode = 'batch'
     WHERE m.closed_at IS NULL AND ${IS_OVER} ORDER BY random() LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    jobUuid: row.job_id,
    tenantId: row.tenant_id,
    shard: row.shard,
    attempt: row.attempt,
    provider: row.provider,
    providerModel: row.provider_model,
    credentialId: row.credential_id,
  }));
}

/**
 * Closes it if its shard or job is still over. A create that nobody answered counts as one whose batch was not found, so
 * that a batch of it is seen as surplus. True for whoever closed it.
 */
export async function closeStrayAttempt(db: Queryable, stray: StrayAttempt, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE batch_provider_metadata m SET closed_at = $4,
       create_outcome = coalesce(m.create_outcome, CASE WHEN m.create_started_at IS NULL THEN 'not_sent' ELSE 'not_found' END)
     FROM batch_shards s, batch_jobs j
     WHERE m.job_id = $1 AND m.shard = $2 AND m.attempt = $3 AND m.closed_at IS NULL
       AND s.job_id = m.job_id AND s.shard = m.shard AND j.job_id = m.job_id AND ${IS_OVER}`,
    [stray.jobUuid, stray.shard, stray.attempt, at],
  );
  return rowCount === 1;
}

/**
 * A queue that was full and that nothing of ours waits for or is in has nobody left to find out that it has room: it is
 * no longer called full. So is a refused shard forgotten once it is over. Answers how many queues that concerned.
 */
export async function forgetIdleQueues(db: Queryable, idleSince: Date): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE capacity_accounts a SET full_since = NULL, probe_at = NULL, probe_job_id = NULL, probe_shard = NULL, refused_alone = 0
     WHERE (a.full_since IS NOT NULL OR a.probe_job_id IS NOT NULL)
       AND coalesce(greatest(a.probe_at, a.last_refused_at), a.full_since, '-infinity') < $1
       AND NOT EXISTS (
         SELECT 1 FROM batch_provider_metadata m JOIN batch_shards s ON s.job_id = m.job_id AND s.shard = m.shard
         WHERE m.closed_at IS NULL AND m.ended_at IS NULL AND m.provider = a.provider AND m.credential_id = a.credential_id
           AND s.provider_model = a.provider_model
       )`,
    [idleSince],
  );
  return rowCount ?? 0;
}
