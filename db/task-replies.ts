import type pg from 'pg';
import { notHeld } from './legal-holds.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** What a kept reply is sealed for. */
export function replyContext(taskId: string): string {
  return `task_replies/${taskId}`;
}

/** Keeps the sealed reply of a task whose job keeps no content. In the transaction that ends it. */
export async function insertTaskReply(
  client: Queryable,
  reply: {
    readonly taskId: string;
    readonly jobUuid: string;
    readonly tenantId: string;
    readonly sealed: Buffer;
    readonly dueAt: Date;
  },
): Promise<void> {
  await client.query(
    'INSERT INTO task_replies (task_id, job_id, tenant_id, sealed, due_at) VALUES ($1, $2, $3, $4, $5)',
    [reply.taskId, reply.jobUuid, reply.tenantId, reply.sealed, reply.dueAt],
  );
}

/** What `dependencies.cipher` opens for `replyContext`: the result as JSON text. Null where none is kept, or not any more. */
export async function findTaskReply(db: Queryable, taskId: string, now: Date): Promise<Buffer | null> {
  const { rows } = await db.query<{ sealed: Buffer }>(
    'SELECT sealed FROM task_replies WHERE task_id = $1 AND due_at > $2',
    [taskId, now],
  );
  return rows[0]?.sealed ?? null;
}

const DELETE_AT_ONCE = 10_000;

/** Deletes replies whose time is over and that nothing holds; returns how many. */
export async function deleteDueReplies(db: Queryable, now: Date): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM task_replies WHERE task_id IN (
       SELECT r.task_id FROM task_replies r JOIN batch_jobs j ON j.job_id = r.job_id
       WHERE r.due_at <= $1 AND ${notHeld('j')} ORDER BY r.due_at LIMIT $2)`,
    [now, DELETE_AT_ONCE],
  );
  return rowCount ?? 0;
}
