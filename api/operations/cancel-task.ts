import type pg from 'pg';
import type { Task } from '../../contracts/task.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { findLockedJobRow } from '../../db/job-rows.ts';
import { freeSlot, lockTask, moveTask, type TaskRow } from '../../db/task-rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { hasTaskEnded, isPollable } from '../../domain/task.ts';
import type { TaskErrorCode } from '../../domain/task-attempt.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { tenantScope } from './owned-job.ts';
import { getOwnedTask, noSuchTask, type TaskRequest } from './owned-task.ts';

const CANCELLED: TaskErrorCode = 'CANCELLED';
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Ends a queued task as FAILED with the code CANCELLED, at once and for good; a repeated call has the same answer. Its money is
 * given back by its workflow, which is woken. Throws `not_found`, or `conflict` for a task that is under way or has ended
 * otherwise.
 */
export async function cancelTask(
  dependencies: Pick<ApiDependencies, 'db' | 'cipher' | 'now' | 'workflows'>,
  request: TaskRequest,
): Promise<Task> {
  const { db, workflows } = dependencies;
  const { task, isNew } = await inTransaction(
    db,
    async (client) => {
      const isCancelled = await cancelIfQueued(dependencies, client, request);
      return { task: (await getOwnedTask(dependencies, client, request)).task, isNew: isCancelled };
    },
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  // Where it is not heard the sweep finds the row.
  if (isNew) await workflows.taskChanged(request.taskId);
  return task;
}

async function cancelIfQueued(
  { now }: Pick<ApiDependencies, 'now'>,
  client: pg.PoolClient,
  { principal, taskId }: TaskRequest,
): Promise<boolean> {
  // Before the row of the task, as everybody locks them; whose it is is looked at there.
  await findLockedJobRow(client, taskId);
  const row = await lockTask(client, tenantScope(principal), taskId);
  const at = now();
  if (row === null || !isPollable(row.completedAt, at)) throw noSuchTask();
  if (row.state === 'FAILED' && row.errorCode === CANCELLED) return false;
  if (row.state !== 'QUEUED') throw notQueued(row);
  await moveTask(client, row, { to: 'FAILED', at, attempt: row.attempts, code: CANCELLED });
  await freeSlot(client, row.tenantId);
  const entry = { act: 'task.cancelled', actor: principal.keyId, tenantId: row.tenantId, subject: taskId } as const;
  await recordAudit(client, entry);
  return true;
}

function notQueued({ state }: TaskRow): GatewayError {
  const why = hasTaskEnded(state)
    ? `The task has ended: it is ${state}.`
    : 'The task is PROCESSING: a request that was sent cannot be called back.';
  return new GatewayError('conflict', `${why} Only a QUEUED task can be cancelled.`);
}
