import type pg from 'pg';
import type { JobState } from '../domain/job-state.ts';
import { fromUuid, toUuid } from './ids.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export type RunOutcome = 'created' | 'submitted' | 'skipped' | 'failed';

export interface RunError {
  readonly code: string;
  readonly message: string;
}

/** One firing of a schedule. */
export interface ScheduleRun {
  readonly scheduledFor: Date;
  /** The public id; null where none was made. */
  readonly jobId: string | null;
  /** Null for a draft that was deleted since, too. */
  readonly jobState: JobState | null;
  readonly outcome: RunOutcome | null;
  readonly error: RunError | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
}

interface RunRow extends Omit<ScheduleRun, 'jobId'> {
  readonly jobUuid: string | null;
}

const SELECT_RUN = `
  SELECT r.schedule_id AS "scheduleId", r.scheduled_for AS "scheduledFor", r.job_id AS "jobUuid", j.state AS "jobState", r.outcome, r.error,
    r.started_at AS "startedAt", r.ended_at AS "endedAt"
  FROM batch_schedule_runs r LEFT JOIN batch_jobs j ON j.job_id = r.job_id`;

/** `firing` is the id of the workflow that was started. Null before it was begun. */
export async function findRun(db: Queryable, scheduleId: string, firing: string): Promise<ScheduleRun | null> {
  const { rows } = await db.query<RunRow>(`${SELECT_RUN} WHERE r.schedule_id = $1 AND r.firing = $2`, [
    scheduleId,
    firing,
  ]);
  return rows[0] === undefined ? null : toRun(rows[0]);
}

export async function insertRun(
  db: Queryable,
  run: { scheduleId: string; firing: string; scheduledFor: Date; jobId: string | null; startedAt: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO batch_schedule_runs (schedule_id, firing, scheduled_for, job_id, started_at) VALUES ($1, $2, $3, $4, $5)`,
    [run.scheduleId, run.firing, run.scheduledFor, run.jobId === null ? null : toUuid('job', run.jobId), run.startedAt],
  );
}

/** The first end stands. False when it had one. */
export async function endRun(
  db: Queryable,
  { scheduleId, firing }: { readonly scheduleId: string; readonly firing: string },
  end: { readonly outcome: RunOutcome; readonly error: RunError | null; readonly now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE batch_schedule_runs SET outcome = $3, error = $4, ended_at = $5
     WHERE schedule_id = $1 AND firing = $2 AND outcome IS NULL`,
    [scheduleId, firing, end.outcome, end.error === null ? null : JSON.stringify(end.error), end.now],
  );
  return rowCount === 1;
}

/** Whether a job of the schedule is being made, since `after`, or runs. */
export async function isScheduleBusy(db: Queryable, scheduleId: string, after: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT 1 FROM batch_schedule_runs r LEFT JOIN batch_jobs j ON j.job_id = r.job_id
     WHERE r.schedule_id = $1 AND ((r.outcome IS NULL AND r.started_at > $2)
       OR j.state IN ('validating', 'queued', 'running', 'finalizing', 'cancel_requested')) LIMIT 1`,
    [scheduleId, after],
  );
  return rowCount === 1;
}

/** Of some schedules the last runs, newest first, by schedule id. */
export async function listLastRuns(
  db: Queryable,
  scheduleIds: readonly string[],
  limit: number,
): Promise<ReadonlyMap<string, ScheduleRun[]>> {
  const { rows } = await db.query<RunRow & { readonly scheduleId: string }>(
    `SELECT last.* FROM unnest($1::text[]) AS wanted (id)
     CROSS JOIN LATERAL (${SELECT_RUN} WHERE r.schedule_id = wanted.id ORDER BY r.started_at DESC LIMIT $2) last`,
    [scheduleIds, limit],
  );
  const byId = Map.groupBy(rows, ({ scheduleId }) => scheduleId);
  return new Map([...byId].map(([id, own]) => [id, own.map(toRun)]));
}

/** Runs that ended before `before` are forgotten; their jobs stay. */
export async function purgeScheduleRuns(db: Queryable, before: Date): Promise<number> {
  const { rowCount } = await db.query('DELETE FROM batch_schedule_runs WHERE ended_at < $1', [before]);
  return rowCount ?? 0;
}

function toRun({ jobUuid, ...row }: RunRow): ScheduleRun {
  return {
    scheduledFor: row.scheduledFor,
    jobId: jobUuid === null ? null : fromUuid('job', jobUuid),
    jobState: row.jobState,
    outcome: row.outcome,
    error: row.error,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
  };
}
