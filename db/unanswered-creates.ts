import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import { jobIdOf } from './ids.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** An attempt whose create was sent, and of which nobody knows yet what became. */
export interface UnansweredCreate {
  readonly jobId: string;
  readonly tenantId: string;
  readonly shard: number;
  readonly attempt: number;
  readonly provider: Provider;
  readonly createDeadline: Date;
  /** Several batches may be the one: only evidence or an operator can tell. */
  readonly isIndeterminate: boolean;
}

/** Those whose create deadline passed before a time, any of them. */
export async function listUnansweredCreates(db: Queryable, before: Date, limit: number): Promise<UnansweredCreate[]> {
  const { rows } = await db.query(
    `SELECT m.job_id, j.kind, j.tenant_id, m.shard, m.attempt, m.provider, m.create_deadline, s.state = 'indeterminate' AS is_indeterminate
     FROM batch_provider_metadata m
     JOIN batch_shards s ON s.job_id = m.job_id AND s.shard = m.shard AND s.state NOT IN ('settled', 'superseded')
     JOIN batch_jobs j ON j.job_id = m.job_id AND j.price_mode = 'batch'
     WHERE m.closed_at IS NULL AND m.create_started_at IS NOT NULL AND m.create_outcome IS NULL AND m.create_deadline < $1
     ORDER BY random() LIMIT $2`,
    [before, limit],
  );
  return rows.map((row) => ({
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    tenantId: row.tenant_id,
    shard: row.shard,
    attempt: row.attempt,
    provider: row.provider,
    createDeadline: row.create_deadline,
    isIndeterminate: row.is_indeterminate,
  }));
}
