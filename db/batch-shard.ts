import type pg from 'pg';
import type { JobKind } from '../domain/job-kind.ts';
import type { Provider } from '../domain/provider.ts';
import { jobIdOf } from './ids.ts';
import { kindOf } from './job-kind.ts';

/** Whose a provider's batch is. */
export interface BatchShard {
  readonly jobId: string;
  readonly shard: number;
  /** Whether a poll saw its end, or nothing of its attempt is open any more. */
  readonly isOver: boolean;
}

/** Null for a batch that no attempt has, or not yet: its id is written down when the create is answered. */
export async function findBatchShard(
  db: Pick<pg.Pool, 'query'>,
  provider: Provider,
  providerBatchId: string,
): Promise<BatchShard | null> {
  const { rows } = await db.query<{ kind: JobKind; job_id: string; shard: number; is_over: boolean }>(
    `SELECT ${kindOf('batch_provider_metadata.job_id')} AS kind, job_id, shard, ended_at IS NOT NULL OR closed_at IS NOT NULL AS is_over
     FROM batch_provider_metadata WHERE provider = $1 AND provider_batch_id = $2`,
    [provider, providerBatchId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }), shard: row.shard, isOver: row.is_over };
}
