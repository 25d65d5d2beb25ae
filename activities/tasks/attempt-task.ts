import { Context } from '@temporalio/activity';
import type pg from 'pg';
import { getJobRow, type JobRow } from '../../db/job-rows.ts';
import { prepared } from '../../db/prepared.ts';
import { getShard, type ShardRow } from '../../db/shards.ts';
import { loadTargetPrices, type TargetPrice } from '../../db/target-prices.ts';
import { countAttempts, findTaskRequest, renewLease, TASK_ITEM_NO, TASK_SHARD } from '../../db/task-attempts.ts';
import { moveTask, type TaskRow } from '../../db/task-rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import { nextAttemptDelay, taskErrorCode, WORKER_STOPPED } from '../../domain/task-attempt.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { TaskActivities, TaskStep } from '../interfaces.ts';
import { untilWritten } from '../until-written.ts';
import { askProvider, type Outcome } from './ask-provider.ts';
import { beginAttempt, lockBoth, stepOf } from './begin-attempt.ts';
import { endTask } from './end-task.ts';
import { LeaseLost, whileLeased } from './task-lease.ts';
import { lineOfAnswer, taskFailure } from './task-line.ts';

/** What an attempt is made of. */
interface Attempt {
  readonly taskId: string;
  readonly attempt: number;
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly target: TargetPrice;
  readonly request: string;
}

const AT_ONCE: TaskStep = { kind: 'again', delayMs: 1 };

/** Statements of one transaction, in which the rows of job and task are locked. */
type Write = (client: pg.PoolClient, locked: { readonly job: JobRow; readonly task: TaskRow }) => Promise<TaskStep>;

/**
 * One attempt of a task, as its row says: begun, asked and written down, each transaction short and none open while the
 * provider is asked. What an attempt brings counts only while the row says that it is the one under way, so that a worker
 * taken for dead changes nothing when it comes back, and no answer is charged twice.
 */
export function createAttemptTask(dependencies: ActivityDependencies): TaskActivities['attemptTask'] {
  return async (input) => {
    const begun = await beginAttempt(dependencies, input);
    if (begun.kind === 'step') return begun.step;
    const attempt = await loadAttempt(dependencies, input.taskId, begun.attempt);
    const { uuid } = attempt.job.key;
    try {
      const renew = (until: Date) => renewLease(dependencies.db.pool, uuid, attempt.attempt, until);
      return await whileLeased(dependencies, renew, async (signal) => {
        const outcome = await askProvider(dependencies, { ...attempt, request: JSON.parse(attempt.request), signal });
        const step = await untilWritten(() => recordOutcome(dependencies, attempt, outcome));
        report(dependencies, attempt, outcome, step);
        return step;
      });
    } catch (error) {
      if (error instanceof LeaseLost) return writeDown(dependencies, attempt, async () => AT_ONCE);
      if (error instanceof ProviderError && error.code === 'aborted' && isStopped())
        return giveBack(dependencies, attempt);
      throw error;
    }
  };
}

async function loadAttempt({ db }: ActivityDependencies, taskId: string, attempt: number): Promise<Attempt> {
  const pool = prepared(db.pool);
  const job = await getJobRow(pool, taskId);
  const shard = await getShard(pool, job.key, TASK_SHARD);
  const target = (await loadTargetPrices(pool, { ...job, uuid: job.key.uuid }))(shard);
  const request = await findTaskRequest(pool, job.key);
  if (request === null) throw new Error(`the request of ${taskId} is gone`);
  return { taskId, attempt, job, shard, target, request };
}

async function recordOutcome(
  dependencies: ActivityDependencies,
  attempt: Attempt,
  outcome: Outcome,
): Promise<TaskStep> {
  const { shard, request } = attempt;
  if (outcome.kind === 'failure')
    return writeDown(dependencies, attempt, async (client, { job, task }) => {
      const delayMs = await delayAfter(dependencies, client, task, outcome);
      if (delayMs !== null) {
        const code = taskErrorCode(outcome.code);
        return queueAgain(client, task, { at: dependencies.now(), delayMs, code });
      }
      const line = taskFailure(shard, outcome.code, outcome.message);
      return endTask(client, dependencies, { job, task, shard, line, request, reply: null });
    });
  const { answer } = outcome;
  const line = await lineOfAnswer(dependencies.db, { ...attempt, itemNo: TASK_ITEM_NO }, answer);
  const reply = answer.kind === 'completed' ? answer.body : null;
  return writeDown(dependencies, attempt, (client, { job, task }) =>
    endTask(client, dependencies, { job, task, shard, line, request, reply }),
  );
}

/** Runs the statements if the attempt is still the one under way; else answers what the rows say. */
async function writeDown(
  { db, now, log }: ActivityDependencies,
  { taskId, attempt }: Attempt,
  write: Write,
): Promise<TaskStep> {
  const writeUnderLocks = async (client: pg.PoolClient): Promise<TaskStep> => {
    const locked = await lockBoth(client, taskId);
    if (locked === null) throw new Error(`no task ${taskId}`);
    const { task } = locked;
    if (task.state === 'PROCESSING' && task.attempts === attempt) return write(client, locked);
    log.warn({ taskId, attempt, state: task.state, attempts: task.attempts }, 'an attempt came too late');
    return stepOf(task, now());
  };
  return inTransaction(db, writeUnderLocks, { isPrepared: true });
}

async function delayAfter(
  { settings, random }: ActivityDependencies,
  client: pg.PoolClient,
  task: TaskRow,
  { code, retryAfterMs }: Outcome & { kind: 'failure' },
): Promise<number | null> {
  return nextAttemptDelay({
    code,
    attempts: await countAttempts(client, task),
    maxAttempts: settings.taskAttempts,
    firstDelayMs: settings.taskRetryMs,
    retryAfterMs,
    random01: random(),
  });
}

async function queueAgain(
  client: pg.PoolClient,
  task: TaskRow,
  { at, delayMs, code }: { readonly at: Date; readonly delayMs: number; readonly code: string },
): Promise<TaskStep> {
  const nextAttemptAt = new Date(at.getTime() + delayMs);
  await moveTask(client, task, { to: 'QUEUED', at, attempt: task.attempts, code, nextAttemptAt });
  return { kind: 'again', delayMs: Math.max(1, delayMs) };
}

function isStopped(): boolean {
  return Context.current().cancellationSignal.aborted;
}

/** Its worker stops: the task is another's to try, at once, and this is counted as no attempt of its provider. */
async function giveBack(dependencies: ActivityDependencies, attempt: Attempt): Promise<TaskStep> {
  return writeDown(dependencies, attempt, (client, { task }) =>
    queueAgain(client, task, { at: dependencies.now(), delayMs: 0, code: WORKER_STOPPED }),
  );
}

function report(
  { log }: ActivityDependencies,
  { taskId, attempt, job, shard }: Attempt,
  outcome: Outcome,
  step: TaskStep,
): void {
  const { tenantId } = job;
  const { provider, providerModel: model } = shard;
  const failure =
    outcome.kind === 'answer'
      ? { failure: outcome.answer.kind === 'failed' ? outcome.answer.code : null, status: null, requestId: null }
      : { failure: outcome.code, status: outcome.error?.status ?? null, requestId: outcome.error?.requestId ?? null };
  log.info({ taskId, tenantId, attempt, provider, model, ...failure, ...step }, 'task attempted');
}
