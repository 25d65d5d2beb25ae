import type pg from 'pg';
import { presentTask } from '../../contracts/task.ts';
import { insertEvent } from '../../db/events.ts';
import type { JobRow } from '../../db/job-rows.ts';
import { deleteEndedRequests } from '../../db/request-deletion.ts';
import type { StagedLine } from '../../db/result-stage.ts';
import type { ShardRow } from '../../db/shards.ts';
import { endInOnePiece } from '../../db/stage-times.ts';
import { insertTaskReply, replyContext } from '../../db/task-replies.ts';
import { freeSlot, moveTask, type TaskRow } from '../../db/task-rows.ts';
import type { FailureCode } from '../../domain/failure.ts';
import { itemStateCode } from '../../domain/item-state.ts';
import { keepsContent } from '../../domain/storage-terms.ts';
import { hasTaskEnded, type TaskState } from '../../domain/task.ts';
import { taskErrorCode, taskErrorMessage } from '../../domain/task-attempt.ts';
import { closeLockedJob } from '../../ledger/close-job.ts';
import { settleLine } from '../../ledger/settle.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { TaskStep } from '../interfaces.ts';

/** How a task ends. Its job's row and its own are locked; the job is open. */
export interface TaskEnd {
  readonly job: JobRow;
  readonly task: TaskRow;
  readonly shard: ShardRow;
  readonly line: StagedLine;
  /** JSON text; null where it is kept no more. */
  readonly request: string | null;
  /** The completed result as JSON text, also where the job keeps none; null for any other end. */
  readonly reply: string | null;
}

type Ended = Pick<TaskRow, 'state' | 'attempts' | 'startedAt' | 'completedAt'>;

const COMPLETED = itemStateCode('completed');

/**
 * Ends a task in the caller's transaction: its item settles, its job is closed with all of its money, what is not kept goes,
 * the event is written, and its slot is free. A task that a cancel has ended already keeps that end, and its slot was freed
 * with it.
 */
export async function endTask(
  client: pg.PoolClient,
  { cipher, now }: Pick<ActivityDependencies, 'cipher' | 'now'>,
  end: TaskEnd,
): Promise<TaskStep & { kind: 'over' }> {
  const { job, task, shard, line } = end;
  const at = now();
  const isOpen = !hasTaskEnded(task.state);
  const ended = isOpen ? await moveToEnd(client, end, at) : task;
  const { settled, charge } = await settleLine(client, { job, shard, attempt: task.attempts }, line);
  if (settled !== 1) throw new Error(`the item of ${task.taskId} has an outcome, and its job has not ended`);
  await endInOnePiece(client, job.key, { startedAt: task.startedAt, at });
  const { itemsWithoutOutcome } = await closeLockedJob(client, job, at, charge);
  if (itemsWithoutOutcome !== 0) throw new Error(`${task.taskId} is a job of more than one item`);
  await keepReply(client, cipher, end, at);
  if (!keepsContent(job.terms.storage)) await deleteEndedRequests(client, job.key, at);
  await announce(client, cipher, end, ended);
  if (isOpen) await freeSlot(client, job.tenantId);
  return { kind: 'over', state: ended.state === 'COMPLETED' ? 'COMPLETED' : 'FAILED' };
}

async function moveToEnd(client: pg.PoolClient, { task, line }: TaskEnd, at: Date): Promise<Ended> {
  const { attempts, startedAt } = task;
  const state: TaskState = line.state === COMPLETED ? 'COMPLETED' : 'FAILED';
  const code = state === 'COMPLETED' ? null : taskErrorCode(line.errorCode as FailureCode);
  await moveTask(client, task, { to: state, at, attempt: attempts, code });
  return { state, attempts, startedAt, completedAt: at };
}

/** No provider has a file to read the reply from: where the gateway is to keep none, it is kept sealed for the read window. */
async function keepReply(
  client: pg.PoolClient,
  cipher: ActivityDependencies['cipher'],
  { job, task: { taskId }, reply }: TaskEnd,
  at: Date,
): Promise<void> {
  const { storage, readWindowMs } = job.terms;
  if (reply === null || keepsContent(storage) || readWindowMs === 0) return;
  await insertTaskReply(client, {
    ...{ taskId, jobUuid: job.key.uuid, tenantId: job.tenantId, dueAt: new Date(at.getTime() + readWindowMs) },
    sealed: await cipher.seal(Buffer.from(reply), replyContext(taskId)),
  });
}

async function announce(
  client: pg.PoolClient,
  cipher: ActivityDependencies['cipher'],
  { job, task, line, request, reply }: TaskEnd,
  ended: Ended,
): Promise<void> {
  const { taskId } = task;
  const { tenantId, projectId, key } = job;
  const isCompleted = ended.state === 'COMPLETED';
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, estimated } = line.usage;
  const code = taskErrorCode(line.errorCode as FailureCode);
  const told = presentTask({
    // As GET shows it: a request that is not kept ends with its task.
    ...{ ...task, ...ended, request: keepsContent(job.terms.storage) ? request : null, result: reply, gone: null },
    usage: isCompleted ? { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, estimated } : null,
    error: isCompleted ? null : { code, message: line.errorMessage ?? taskErrorMessage(code) },
  });
  await insertEvent(client, {
    ...{ tenantId, projectId, jobId: key.uuid, subjectId: taskId },
    type: isCompleted ? 'task.completed' : 'task.failed',
    data: { task_id: taskId, status: ended.state },
    content: { data: told, jobUuid: key.uuid, seal: (plain, context) => cipher.seal(plain, context) },
  });
}
