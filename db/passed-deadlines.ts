import type pg from 'pg';
import { fromUuid } from './ids.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** A job past its own deadline, and how many of its shards nobody has touched since. */
export interface PassedDeadline {
  readonly jobId: string;
  readonly tenantId: string;
  readonly deadline: Date;
  readonly shards: number;
}

const UNTOUCHED = `greatest(s.created_at, t.since, m.last_polled_at, m.accepted_at, m.create_started_at, m.ended_at) < j.deadline`;

/**
 * Open batch jobs whose deadline passed before a time and that have begun shards without a sign since, or only shards that were
 * never begun. Any of them, where there are more than `limit`.
 */
export async function listPassedDeadlines(db: Queryable, before: Date, limit: number): Promise<PassedDeadline[]> {
  const { rows } = await db.query(
    `SELECT j.job_id, j.tenant_id, j.deadline,
       coalesce(nullif(count(*) FILTER (WHERE s.state <> 'planned' AND ${UNTOUCHED}), 0),
         CASE WHEN bool_and(s.state = 'planned') THEN count(*) ELSE 0 END)::int AS shards
     FROM batch_jobs j
     JOIN batch_shards s ON s.job_id = j.job_id AND s.state NOT IN ('settled', 'superseded')
     LEFT JOIN stage_times t ON t.job_id = s.job_id AND t.shard = s.shard
     LEFT JOIN batch_provider_metadata m ON m.job_id = s.job_id AND m.shard = s.shard AND m.attempt = s.attempt
     WHERE j.kind = 'batch' AND j.state IN ('validating', 'queued', 'running', 'finalizing', 'cancel_requested') AND j.deadline < $1
     GROUP BY j.job_id
     HAVING bool_and(s.state = 'planned') OR count(*) FILTER (WHERE s.state <> 'planned' AND ${UNTOUCHED}) > 0
     ORDER BY random() LIMIT $2`,
    [before, limit],
  );
  return rows.map((row) => ({
    jobId: fromUuid('job', row.job_id),
    tenantId: row.tenant_id,
    deadline: row.deadline,
    shards: row.shards,
  }));
}
