import type pg from 'pg';
import type { TaskState, TaskType } from '../domain/task.ts';
import { taskErrorMessage } from '../domain/task-attempt.ts';
import { toUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** All that is shown of a task, with its content where that is in clear. */
export interface TaskView {
  readonly uuid: string;
  readonly tenantId: string;
  readonly taskId: string;
  readonly taskType: TaskType;
  readonly state: TaskState;
  readonly priority: number;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  /** The body of a chat completion as JSON text; null where it is kept no more. */
  readonly request: string | null;
  /** Its result as JSON text; null where there is none, where none is kept, and where it lies in `sealedReply`. */
  readonly result: string | null;
  /** Of a job that keeps no content, while it may be read; opens for `replyContext`. */
  readonly sealedReply: Buffer | null;
  readonly usage: {
    readonly inputTokens: number;
    readonly cachedInputTokens: number;
    readonly outputTokens: number;
    readonly reasoningTokens: number;
    readonly estimated: boolean;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly gone: 'deleted' | 'not_stored' | null;
}

/** Those that ended before or at `endedAfter` are as unknown; null sees all. */
export interface ViewedTask {
  readonly taskId: string;
  readonly now: Date;
  readonly endedAfter: Date | null;
}

/** What no task has. */
const NO_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * Null for an unknown, malformed or foreign id, and for one that ended too long ago: by the same one query, so that neither
 * the answer nor its time tells them apart. A null scope is the gateway itself.
 */
export async function findTaskView(
  db: Queryable,
  scope: JobScope | null,
  { taskId, now, endedAfter }: ViewedTask,
): Promise<TaskView | null> {
  const condition = scopeCondition(scope, 't', 5);
  const uuid = toUuid('task', taskId);
  const { rows } = await db.query<TaskViewRow>(`${SELECT_TASK} AND ${condition.sql}`, [
    uuid ?? NO_UUID,
    uuid === null ? '' : taskId,
    now,
    endedAfter,
    ...condition.values,
  ]);
  return rows[0] === undefined ? null : toTaskView(taskId, rows[0]);
}

const SELECT_TASK = `
  SELECT t.task_id AS uuid, t.tenant_id, t.task_type, t.state, t.priority, t.attempts, t.created_at, t.started_at, t.completed_at, t.error_code,
    r.body AS request, e.body AS result, e.error_message, p.sealed AS sealed_reply, j.content_deleted_at IS NOT NULL AS is_deleted,
    o.input_tokens, o.cached_input_tokens, o.output_tokens, o.reasoning_tokens, o.usage_estimated
  FROM async_tasks t
  JOIN batch_jobs j ON j.job_id = t.task_id
  LEFT JOIN item_requests r ON r.job_id = j.job_id AND r.bucket = j.bucket AND r.item_no = 1 AND j.content_deleted_at IS NULL
  LEFT JOIN item_outcomes o ON o.job_id = j.job_id AND o.bucket = j.bucket AND o.item_no = 1
  LEFT JOIN item_results e ON e.job_id = j.job_id AND e.bucket = j.bucket AND e.item_no = 1 AND j.content_deleted_at IS NULL
  LEFT JOIN task_replies p ON p.task_id = $2 AND p.due_at > $3 AND j.content_deleted_at IS NULL
  WHERE t.task_id = $1 AND ($4::timestamptz IS NULL OR t.completed_at IS NULL OR t.completed_at > $4)`;

interface TaskViewRow {
  readonly uuid: string;
  readonly tenant_id: string;
  readonly task_type: TaskType;
  readonly state: TaskState;
  readonly priority: number;
  readonly attempts: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly error_code: string | null;
  /** Of the item's end, where it says more than the code. */
  readonly error_message: string | null;
  readonly request: string | null;
  readonly result: string | null;
  readonly sealed_reply: Buffer | null;
  readonly is_deleted: boolean;
  /** Of the outcome, which an open task has not. */
  readonly input_tokens: string | null;
  readonly cached_input_tokens: string;
  readonly output_tokens: string;
  readonly reasoning_tokens: string;
  readonly usage_estimated: boolean;
}

function toTaskView(taskId: string, row: TaskViewRow): TaskView {
  return {
    uuid: row.uuid,
    tenantId: row.tenant_id,
    taskId,
    taskType: row.task_type,
    state: row.state,
    priority: row.priority,
    attempts: row.attempts,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    request: row.request,
    result: row.result,
    sealedReply: row.sealed_reply,
    usage:
      row.input_tokens === null
        ? null
        : {
            inputTokens: Number(row.input_tokens),
            cachedInputTokens: Number(row.cached_input_tokens),
            outputTokens: Number(row.output_tokens),
            reasoningTokens: Number(row.reasoning_tokens),
            estimated: row.usage_estimated,
          },
    error:
      row.error_code === null
        ? null
        : { code: row.error_code, message: row.error_message ?? taskErrorMessage(row.error_code) },
    gone: row.is_deleted ? 'deleted' : null,
  };
}
