import type pg from 'pg';
import { presentTask, type Task, type TaskDetail } from '../../contracts/task.ts';
import { prepared } from '../../db/prepared.ts';
import { replyContext } from '../../db/task-replies.ts';
import { listTransitions } from '../../db/task-rows.ts';
import { findTaskView, type TaskView } from '../../db/task-view.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { POLLABLE_MS } from '../../domain/task.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { tenantScope } from './owned-job.ts';

/** Who asks for which task. */
export interface TaskRequest {
  readonly principal: Principal;
  readonly taskId: string;
}

/** One text for ids that are unknown, malformed, foreign, or of tasks that ended too long ago. */
export function noSuchTask(): GatewayError {
  return new GatewayError('not_found', 'No such task.');
}

/** A task that the key may see and that can still be polled, else `not_found`. */
export async function getOwnedTask(
  { cipher, now }: Pick<ApiDependencies, 'cipher' | 'now'>,
  db: Pick<pg.ClientBase, 'query'>,
  { principal, taskId }: TaskRequest,
): Promise<{ readonly view: TaskView; readonly task: Task }> {
  const at = now();
  const endedAfter = new Date(at.getTime() - POLLABLE_MS);
  const view = await findTaskView(prepared(db), tenantScope(principal), { taskId, now: at, endedAfter });
  if (view === null) throw noSuchTask();
  return { view, task: await present(view, cipher) };
}

/** With every state that it was in, where those are asked for. Throws `not_found`. */
export async function getTask(
  dependencies: Pick<ApiDependencies, 'db' | 'cipher' | 'now'>,
  request: TaskRequest & { readonly includesHistory: boolean },
): Promise<TaskDetail> {
  const { pool } = dependencies.db;
  const { view, task } = await getOwnedTask(dependencies, pool, request);
  if (!request.includesHistory) return task;
  const transitions = await listTransitions(pool, view);
  const history = transitions.map(({ state, attempt, code, at }) => ({
    status: state,
    attempt,
    at: at.toISOString(),
    code,
  }));
  return { ...task, history };
}

async function present(view: TaskView, cipher: ApiDependencies['cipher']): Promise<Task> {
  const { taskId, sealedReply } = view;
  if (sealedReply === null) return presentTask(view);
  return presentTask({ ...view, result: (await cipher.open(sealedReply, replyContext(taskId))).toString() });
}
