import { ApplicationFailure } from '@temporalio/activity';
import type pg from 'pg';
import { toUuid } from '../../db/ids.ts';
import { findLockedJobRow, type JobRow } from '../../db/job-rows.ts';
import { prepared } from '../../db/prepared.ts';
import { getShard } from '../../db/shards.ts';
import { countAttempts, findTaskRequest, TASK_SHARD, takeQueued } from '../../db/task-attempts.ts';
import { lockTask, moveTask, type TaskRow } from '../../db/task-rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { FailureCode } from '../../domain/failure.ts';
import { isTerminal } from '../../domain/job-state.ts';
import { hasTaskEnded } from '../../domain/task.ts';
import { taskErrorCode } from '../../domain/task-attempt.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { TaskActivities, TaskStep } from '../interfaces.ts';
import { endTask } from './end-task.ts';
import { leaseEnd } from './task-lease.ts';
import { taskFailure } from './task-line.ts';

/** Of the attempt that is to be made now, its number. */
export type Begun =
  | { readonly kind: 'ask'; readonly attempt: number }
  | { readonly kind: 'step'; readonly step: TaskStep };

interface Locked {
  readonly job: JobRow;
  readonly task: TaskRow;
}

/**
 * Begins the next attempt of a task, as its row says: most of the time one statement. Where an attempt is under way it is
 * waited for until its lease is over, and then was lost, which counts as an attempt; where the task was cancelled, its money is
 * settled.
 */
export async function beginAttempt(
  dependencies: ActivityDependencies,
  { taskId, cancel = false }: Parameters<TaskActivities['attemptTask']>[0],
): Promise<Begun> {
  const { db, now } = dependencies;
  const uuid = toUuid('task', taskId);
  if (uuid === null) throw unknownTask();
  const at = now();
  const attempt = cancel ? null : await takeQueued(prepared(db.pool), uuid, { at, leasedUntil: leaseEnd(at) });
  if (attempt !== null) return { kind: 'ask', attempt };
  return inTransaction(db, async (client) => {
    const locked = await lockBoth(client, taskId);
    if (locked === null) throw unknownTask();
    return decide(client, dependencies, locked, cancel);
  });
}

/** In the lock order: the job's row, then the task's. Null for an id no task has. */
export async function lockBoth(client: pg.PoolClient, taskId: string): Promise<Locked | null> {
  const job = await findLockedJobRow(client, taskId);
  const task = job === null ? null : await lockTask(client, null, taskId);
  return job === null || task === null ? null : { job, task };
}

/** What a row says that is somebody else's to move. */
export function stepOf({ state, leasedUntil, nextAttemptAt }: TaskRow, at: Date): TaskStep {
  if (state === 'COMPLETED' || state === 'FAILED') return { kind: 'over', state };
  const until = state === 'PROCESSING' ? leasedUntil : nextAttemptAt;
  return { kind: 'again', delayMs: Math.max(1, (until ?? at).getTime() - at.getTime()) };
}

async function decide(
  client: pg.PoolClient,
  dependencies: ActivityDependencies,
  locked: Locked,
  cancel: boolean,
): Promise<Begun> {
  const { job, task } = locked;
  const at = dependencies.now();
  const isOver = hasTaskEnded(task.state);
  if (isOver && isTerminal(job.state)) return { kind: 'step', step: stepOf(task, at) };
  if (isOver || (cancel && task.state === 'QUEUED')) return end(client, dependencies, locked, 'job_cancelled');
  const due = task.state === 'PROCESSING' ? task.leasedUntil : task.nextAttemptAt;
  if (due !== null && due > at) return { kind: 'step', step: stepOf(task, at) };
  if (task.state === 'QUEUED') return begin(client, task, at);
  return takeOver(client, dependencies, locked, { at, cancel });
}

/** The worker that had begun the attempt was lost: whatever it still brings counts for nothing. */
async function takeOver(
  client: pg.PoolClient,
  dependencies: ActivityDependencies,
  locked: Locked,
  { at, cancel }: { readonly at: Date; readonly cancel: boolean },
): Promise<Begun> {
  const { job, task } = locked;
  const attempts = await countAttempts(client, task);
  dependencies.log.warn({ taskId: job.jobId, attempt: task.attempts }, 'the worker of a task was lost');
  if (attempts >= dependencies.settings.taskAttempts) return end(client, dependencies, locked, 'worker_lost');
  await moveTask(client, task, { to: 'QUEUED', at, attempt: task.attempts, code: taskErrorCode('worker_lost') });
  if (cancel) return end(client, dependencies, { job, task: { ...task, state: 'QUEUED' } }, 'job_cancelled');
  return begin(client, { ...task, state: 'QUEUED' }, at);
}

async function begin(client: pg.PoolClient, task: TaskRow, at: Date): Promise<Begun> {
  const attempt = task.attempts + 1;
  await moveTask(client, task, { to: 'PROCESSING', at, attempt, leasedUntil: leaseEnd(at) });
  return { kind: 'ask', attempt };
}

/** Without an answer, and so free of charge. */
async function end(
  client: pg.PoolClient,
  dependencies: ActivityDependencies,
  { job, task }: Locked,
  code: FailureCode,
): Promise<Begun> {
  const shard = await getShard(client, job.key, TASK_SHARD);
  const request = await findTaskRequest(client, job.key);
  const line = taskFailure(shard, code, null);
  return { kind: 'step', step: await endTask(client, dependencies, { job, task, shard, line, request, reply: null }) };
}

function unknownTask(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('no such task', 'unknown_task');
}
