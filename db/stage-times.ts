import type pg from 'pg';
import type { Stage } from '../domain/stage.ts';
import type { JobKey } from './job-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** The number under which the times of a job as a whole stand. */
export const WHOLE_JOB = 0;

/** Of the time since the stage began, in milliseconds: the clock of another process may be a little behind. */
const PASSED = 'greatest(0, round(extract(epoch FROM $4::timestamptz - t.since) * 1000))::bigint';
const ADD_PASSED = ['queued', 'running', 'finalizing']
  .map((stage) => `${stage}_ms = t.${stage}_ms + CASE t.stage WHEN '${stage}' THEN ${PASSED} ELSE 0 END`)
  .join(', ');

/**
 * Records that a shard, or the job itself, is in a stage from `at` on, or with null that it is over. To be where it is
 * already changes nothing, nor does anything once it is over. The job's row must be locked.
 */
export async function enterStage(
  client: Queryable,
  job: JobKey,
  shard: number,
  stage: Stage | null,
  at: Date,
): Promise<void> {
  await client.query(
    `INSERT INTO stage_times AS t (job_id, shard, stage, since, ended_at)
     VALUES ($1, $2, $3::text, $4, CASE WHEN $3::text IS NULL THEN $4::timestamptz END)
     ON CONFLICT (job_id, shard) DO UPDATE SET ${ADD_PASSED}, stage = excluded.stage, since = excluded.since, ended_at = excluded.ended_at
     WHERE t.stage IS NOT NULL AND t.stage IS DISTINCT FROM excluded.stage`,
    [job.uuid, shard, stage, at],
  );
}

/** Shards that were just planned wait from then on. */
export async function startStages(client: Queryable, job: JobKey): Promise<void> {
  await client.query(
    `INSERT INTO stage_times (job_id, shard, stage, since)
     SELECT job_id, shard, 'queued', created_at FROM batch_shards WHERE job_id = $1 AND state = 'planned' ON CONFLICT DO NOTHING`,
    [job.uuid],
  );
}

/**
 * Ends the shards of a job that runs in one piece, and all its stages: it waited until `startedAt`, where it was begun at all,
 * and ran from then on. The job's row must be locked.
 */
export async function endInOnePiece(
  client: Queryable,
  job: JobKey,
  { startedAt, at }: { readonly startedAt: Date | null; readonly at: Date },
): Promise<void> {
  await client.query(
    `WITH shards AS (UPDATE batch_shards SET state = 'settled', settled_at = $2 WHERE job_id = $1)
     UPDATE stage_times SET stage = NULL, since = $2::timestamptz, ended_at = $2,
       queued_ms = queued_ms + greatest(0, round(extract(epoch FROM coalesce($3, $2) - since) * 1000))::bigint,
       running_ms = running_ms + greatest(0, round(extract(epoch FROM $2 - coalesce($3::timestamptz, $2)) * 1000))::bigint
     WHERE job_id = $1 AND stage IS NOT NULL`,
    [job.uuid, at, startedAt],
  );
}

/** The halves of a shard go on with the time that it has spent, and it is no more. */
export async function splitStages(client: Queryable, job: JobKey, shard: number): Promise<void> {
  await client.query(
    `WITH whole AS (DELETE FROM stage_times WHERE job_id = $1 AND shard = $2 RETURNING *)
     INSERT INTO stage_times (job_id, shard, stage, since, queued_ms, running_ms, finalizing_ms)
     SELECT whole.job_id, half.shard, whole.stage, whole.since, whole.queued_ms, whole.running_ms, whole.finalizing_ms
     FROM whole, LATERAL (SELECT shard FROM batch_shards WHERE job_id = $1 ORDER BY shard DESC LIMIT 2) half
     WHERE whole.stage IS NOT NULL ON CONFLICT DO NOTHING`,
    [job.uuid, shard],
  );
}
