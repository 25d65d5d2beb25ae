import type pg from 'pg';
import type { ScheduleTiming } from '../domain/schedule-timing.ts';
import { toUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export type ScheduleOverlap = 'skip' | 'allow';

/** Where the items of each job come from: one of the two. */
export interface ScheduleItems {
  readonly manifest_of_job?: string | undefined;
  readonly items_url?: string | undefined;
}

/** What makes a job at every firing. */
export interface ScheduleRow {
  readonly scheduleId: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  /** In whose name its jobs are made. */
  readonly apiKeyId: string;
  readonly name: string;
  readonly timing: ScheduleTiming;
  /** The body of create_job. */
  readonly job: Readonly<Record<string, unknown>>;
  readonly items: ScheduleItems;
  readonly submits: boolean;
  readonly overlap: ScheduleOverlap;
  readonly deadlineAfterSeconds: number | null;
  readonly pausedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const SELECT_SCHEDULE = `
  SELECT schedule_id AS "scheduleId", tenant_id AS "tenantId", project_id AS "projectId", customer_id AS "customerId",
    api_key_id AS "apiKeyId", name, timing, job, items, submits, overlap, deadline_after_seconds AS "deadlineAfterSeconds",
    paused_at AS "pausedAt", created_at AS "createdAt", updated_at AS "updatedAt"
  FROM batch_schedules s`;

export async function insertSchedule(db: Queryable, row: Omit<ScheduleRow, 'updatedAt'>): Promise<void> {
  await db.query(
    `INSERT INTO batch_schedules (schedule_id, tenant_id, project_id, customer_id, api_key_id, name, timing, job, items, submits,
       overlap, deadline_after_seconds, paused_at, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)`,
    [
      row.scheduleId,
      row.tenantId,
      row.projectId,
      row.customerId,
      row.apiKeyId,
      row.name,
      JSON.stringify(row.timing),
      JSON.stringify(row.job),
      JSON.stringify(row.items),
      row.submits,
      row.overlap,
      row.deadlineAfterSeconds,
      row.pausedAt,
      row.createdAt,
    ],
  );
}

/** Null for one that is unknown, malformed, deleted or out of scope. A null scope is the whole gateway. */
export async function findSchedule(
  db: Queryable,
  scope: JobScope | null,
  scheduleId: string,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<ScheduleRow | null> {
  if (toUuid('schedule', scheduleId) === null) return null;
  const condition = scopeCondition(scope, 's', 2);
  const { rows } = await db.query<ScheduleRow>(
    `${SELECT_SCHEDULE} WHERE schedule_id = $1 AND deleted_at IS NULL AND ${condition.sql} ${lock ? 'FOR NO KEY UPDATE' : ''}`,
    [scheduleId, ...condition.values],
  );
  return rows[0] ?? null;
}

/** Newest first. */
export async function listSchedules(
  db: Queryable,
  scope: JobScope | null,
  page: { readonly after: { readonly createdAt: Date; readonly scheduleId: string } | null; readonly limit: number },
): Promise<ScheduleRow[]> {
  const condition = scopeCondition(scope, 's', 1);
  const { rows } = await db.query<ScheduleRow>(
    `${SELECT_SCHEDULE} WHERE deleted_at IS NULL AND ${condition.sql}
       AND ($4::timestamptz IS NULL OR (created_at, schedule_id) < ($4, $5))
     ORDER BY created_at DESC, schedule_id DESC LIMIT $6`,
    [...condition.values, page.after?.createdAt ?? null, page.after?.scheduleId ?? null, page.limit],
  );
  return rows;
}

/** Its row must be locked. */
export async function updateSchedule(db: Queryable, row: ScheduleRow): Promise<void> {
  await db.query(
    `UPDATE batch_schedules SET name = $2, timing = $3, submits = $4, overlap = $5, deadline_after_seconds = $6, paused_at = $7,
       updated_at = $8
     WHERE schedule_id = $1`,
    [
      row.scheduleId,
      row.name,
      JSON.stringify(row.timing),
      row.submits,
      row.overlap,
      row.deadlineAfterSeconds,
      row.pausedAt,
      row.updatedAt,
    ],
  );
}

/** The row stays, for the runs that name it. */
export async function deleteSchedule(db: Queryable, scheduleId: string, now: Date): Promise<void> {
  await db.query('UPDATE batch_schedules SET deleted_at = $2 WHERE schedule_id = $1', [scheduleId, now]);
}
