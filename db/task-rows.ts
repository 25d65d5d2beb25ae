import type pg from 'pg';
import { mayTaskMove, type TaskState, type TaskType } from '../domain/task.ts';
import { fromUuid, toUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** What a task has beside its job, which has the same uuid. */
export interface TaskRow {
  readonly uuid: string;
  /** The public id. */
  readonly taskId: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly taskType: TaskType;
  readonly priority: number;
  readonly state: TaskState;
  /** Attempts begun; the number of the one under way. */
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly leasedUntil: Date | null;
  readonly errorCode: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

/** A step of a task, and what it leaves behind. */
export interface TaskMove {
  readonly to: TaskState;
  readonly at: Date;
  /** Of the attempt that begins with the step, or that it ends. */
  readonly attempt: number;
  /** Why, where that does not go without saying; of the end, what the task shows as its error. */
  readonly code?: string | null;
  readonly nextAttemptAt?: Date | null;
  readonly leasedUntil?: Date | null;
}

const COLUMNS = `task_id, tenant_id, project_id, customer_id, task_type, priority, state, attempts, next_attempt_at, leased_until,
  error_code, created_at, started_at, completed_at`;

/** Null for an unknown, malformed or foreign id alike. A null scope is the gateway itself. */
export async function findTask(db: Queryable, scope: JobScope | null, taskId: string): Promise<TaskRow | null> {
  return readTask(db, scope, taskId, '');
}

/** As `findTask`, with the row locked until the transaction ends: after its job's row, before everything else. */
export async function lockTask(client: pg.PoolClient, scope: JobScope | null, taskId: string): Promise<TaskRow | null> {
  return readTask(client, scope, taskId, 'FOR NO KEY UPDATE');
}

async function readTask(
  db: Queryable,
  scope: JobScope | null,
  taskId: string,
  lock: '' | 'FOR NO KEY UPDATE',
): Promise<TaskRow | null> {
  const uuid = toUuid('task', taskId);
  if (uuid === null) return null;
  const condition = scopeCondition(scope, 't', 2);
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM async_tasks t WHERE t.task_id = $1 AND ${condition.sql} ${lock}`,
    [uuid, ...condition.values],
  );
  return rows[0] === undefined ? null : toTaskRow(rows[0]);
}

/**
 * Takes a step of a locked task and writes it down. Throws for a step that no task takes: the caller has looked at the row
 * under the same lock.
 */
export async function moveTask(client: Queryable, task: TaskRow, move: TaskMove): Promise<void> {
  const { to, at, attempt, code = null, nextAttemptAt = null, leasedUntil = null } = move;
  if (!mayTaskMove(task.state, to)) throw new Error(`${task.taskId} cannot go from ${task.state} to ${to}`);
  const isEnd = to === 'COMPLETED' || to === 'FAILED';
  await client.query(
    `WITH moved AS (
       UPDATE async_tasks SET state = $2, attempts = $3, next_attempt_at = $4, leased_until = $5, error_code = $6,
         started_at = coalesce(started_at, CASE WHEN $2 = 'PROCESSING' THEN $7::timestamptz END),
         completed_at = CASE WHEN $8 THEN $7::timestamptz END, transitions = transitions + 1
       WHERE task_id = $1
       RETURNING transitions
     )
     INSERT INTO task_transitions (task_id, transition_no, state, attempt, code, at)
     SELECT $1, transitions, $2, $3, $6, $7 FROM moved`,
    [task.uuid, to, attempt, nextAttemptAt, leasedUntil, code, at, isEnd],
  );
}

/** A step as the task's history shows it. */
export interface TaskTransition {
  readonly state: TaskState;
  readonly attempt: number;
  readonly code: string | null;
  readonly at: Date;
}

/** Every state the task was in, in their order. */
export async function listTransitions(db: Queryable, task: Pick<TaskRow, 'uuid'>): Promise<TaskTransition[]> {
  const { rows } = await db.query<TaskTransition>(
    'SELECT state, attempt, code, at FROM task_transitions WHERE task_id = $1 ORDER BY transition_no',
    [task.uuid],
  );
  return rows;
}

/** Counts one more open task of a tenant, unless that would be more than `limit`. */
export async function takeSlot(client: Queryable, tenantId: string, limit: number): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO task_slots AS s (tenant_id, in_use) SELECT $1, 1 WHERE $2 > 0
     ON CONFLICT (tenant_id) DO UPDATE SET in_use = s.in_use + 1 WHERE s.in_use < $2`,
    [tenantId, limit],
  );
  return rowCount === 1;
}

/**
 * Counts one open task less: the last lock of the transaction that ends it. A count that is wrong keeps no task from ending;
 * a sweep mends it.
 */
export async function freeSlot(client: Queryable, tenantId: string): Promise<void> {
  await client.query('UPDATE task_slots SET in_use = in_use - 1 WHERE tenant_id = $1 AND in_use > 0', [tenantId]);
}

function toTaskRow(row: Record<string, unknown>): TaskRow {
  const get = <Value>(column: string): Value => row[column] as Value;
  return {
    uuid: get('task_id'),
    taskId: fromUuid('task', get('task_id')),
    tenantId: get('tenant_id'),
    projectId: get('project_id'),
    customerId: get('customer_id'),
    taskType: get('task_type'),
    priority: get('priority'),
    state: get('state'),
    attempts: get('attempts'),
    nextAttemptAt: get('next_attempt_at'),
    leasedUntil: get('leased_until'),
    errorCode: get('error_code'),
    createdAt: get('created_at'),
    startedAt: get('started_at'),
    completedAt: get('completed_at'),
  };
}
