import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import type { TaskState } from '../domain/task.ts';
import { fromUuid } from './ids.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** A task that somebody should be at work on. */
export interface OverdueTask {
  readonly taskId: string;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly state: TaskState;
  readonly attempts: number;
  readonly provider: Provider;
  readonly providerModel: string;
}

const COLUMNS = `t.task_id, t.tenant_id, t.customer_id, t.state, t.attempts, s.provider, s.provider_model`;
const THEIR_SHARD = 'JOIN batch_shards s ON s.job_id = t.task_id AND s.shard = 1';

/**
 * Tasks whose next attempt was due before the given time, whose lease was over by then, or that had ended by then without
 * their job; any of them, where there are more than `limit`.
 */
export async function listOverdueTasks(db: Queryable, before: Date, limit: number): Promise<OverdueTask[]> {
  const { rows } = await db.query(
    `SELECT * FROM (
       SELECT ${COLUMNS} FROM async_tasks t ${THEIR_SHARD}
       WHERE t.state IN ('QUEUED', 'PROCESSING')
         AND CASE t.state WHEN 'QUEUED' THEN coalesce(t.next_attempt_at, t.created_at) ELSE t.leased_until END < $1
       UNION ALL
       SELECT ${COLUMNS} FROM batch_jobs j JOIN async_tasks t ON t.task_id = j.job_id ${THEIR_SHARD}
       WHERE j.kind = 'task' AND j.state IN ('validating', 'queued', 'running', 'finalizing', 'cancel_requested')
         AND t.completed_at < $1
     ) overdue ORDER BY random() LIMIT $2`,
    [before, limit],
  );
  return rows.map((row) => ({
    taskId: fromUuid('task', row.task_id),
    tenantId: row.tenant_id,
    customerId: row.customer_id,
    state: row.state,
    attempts: row.attempts,
    provider: row.provider,
    providerModel: row.provider_model,
  }));
}
