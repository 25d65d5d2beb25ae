import type pg from 'pg';
import type { ShardState } from '../domain/shard-state.ts';
import { jobIdOf } from './ids.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** An open shard of which nothing has been heard for a while. */
export interface QuietShard {
  readonly jobId: string;
  readonly tenantId: string;
  readonly shard: number;
  readonly state: ShardState;
  readonly nextPollAt: Date | null;
  readonly lastSign: Date;
}

/** Of the row that a shard, its attempt or its stage leave last, and of the time it wanted to act next. */
const LAST_SIGN = `greatest(s.next_poll_at, s.waiting_since, s.created_at, t.since, m.last_polled_at, m.accepted_at, m.create_started_at,
  m.ended_at)`;

/**
 * Begun shards of open jobs that run in batches, without a sign since `before`, any of them: where there are more than `limit`, none is always
 * left out. What was not begun yet is its job's to start.
 */
export async function listQuietShards(db: Queryable, before: Date, limit: number): Promise<QuietShard[]> {
  const { rows } = await db.query(
    `SELECT s.job_id, j.kind, j.tenant_id, s.shard, s.state, s.next_poll_at, ${LAST_SIGN} AS last_sign
     FROM batch_jobs j
     JOIN batch_shards s ON s.job_id = j.job_id AND s.state NOT IN ('planned', 'settled', 'superseded')
     LEFT JOIN stage_times t ON t.job_id = s.job_id AND t.shard = s.shard
     LEFT JOIN batch_provider_metadata m ON m.job_id = s.job_id AND m.shard = s.shard AND m.attempt = s.attempt
     WHERE j.price_mode = 'batch' AND j.state IN ('validating', 'queued', 'running', 'finalizing', 'cancel_requested') AND ${LAST_SIGN} < $1
     ORDER BY random() LIMIT $2`,
    [before, limit],
  );
  return rows.map((row) => ({
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    tenantId: row.tenant_id,
    shard: row.shard,
    state: row.state,
    nextPollAt: row.next_poll_at,
    lastSign: row.last_sign,
  }));
}
