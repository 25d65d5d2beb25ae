import type pg from 'pg';
import { WORKER_STOPPED } from '../domain/task-attempt.ts';
import type { JobKey } from './job-rows.ts';
import type { TaskRow } from './task-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** When an attempt begins, and until when its worker is sure to hold the task. */
export interface LeaseTimes {
  readonly at: Date;
  readonly leasedUntil: Date;
}

/**
 * Begins the next attempt of a task that is queued and due, in one statement: of several workers one gets it. Answers the
 * attempt's number, null where the task is not to be had so.
 */
export async function takeQueued(db: Queryable, uuid: string, { at, leasedUntil }: LeaseTimes): Promise<number | null> {
  const { rows } = await db.query<{ attempts: number }>(
    `WITH begun AS (
       UPDATE async_tasks SET state = 'PROCESSING', attempts = attempts + 1, next_attempt_at = NULL, leased_until = $3,
         error_code = NULL, started_at = coalesce(started_at, $2), transitions = transitions + 1
       WHERE task_id = $1 AND state = 'QUEUED' AND (next_attempt_at IS NULL OR next_attempt_at <= $2)
       RETURNING attempts, transitions
     ), noted AS (
       INSERT INTO task_transitions (task_id, transition_no, state, attempt, at)
       SELECT $1, transitions, 'PROCESSING', attempts, $2 FROM begun
     )
     SELECT attempts FROM begun`,
    [uuid, at, leasedUntil],
  );
  return rows[0]?.attempts ?? null;
}

/** False where the attempt is not the one under way any more. */
export async function renewLease(db: Queryable, uuid: string, attempt: number, leasedUntil: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE async_tasks SET leased_until = $3 WHERE task_id = $1 AND state = 'PROCESSING' AND attempts = $2`,
    [uuid, attempt, leasedUntil],
  );
  return rowCount === 1;
}

/** Attempts of a task that count, the one under way included: without those whose worker stopped in order. */
export async function countAttempts(
  db: Queryable,
  { uuid, attempts }: Pick<TaskRow, 'uuid' | 'attempts'>,
): Promise<number> {
  const { rows } = await db.query<{ stopped: number }>(
    'SELECT count(*)::int AS stopped FROM task_transitions WHERE task_id = $1 AND code = $2',
    [uuid, WORKER_STOPPED],
  );
  return attempts - (rows[0]?.stopped ?? 0);
}

/** The numbers of a task's one item and its one shard. */
export const TASK_ITEM_NO = 1;
export const TASK_SHARD = 1;

/** The request of its one item as JSON text; null where it is kept no more. */
export async function findTaskRequest(db: Queryable, job: JobKey): Promise<string | null> {
  const { rows } = await db.query<{ body: string }>(
    `SELECT body FROM item_requests WHERE bucket = $1 AND job_id = $2 AND item_no = ${TASK_ITEM_NO}`,
    [job.bucket, job.uuid],
  );
  return rows[0]?.body ?? null;
}
