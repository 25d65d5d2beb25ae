import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { TaskStep } from '../../activities/interfaces.ts';
import { createTaskActivities } from '../../activities/tasks/create-task-activities.ts';
import type { Database } from '../../db/client.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { findTask, listTransitions, type TaskRow } from '../../db/task-rows.ts';
import { parseNumeric } from '../../domain/money.ts';
import type { TaskType } from '../../domain/task.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import { testDependencies } from './activities.ts';
import { type ApiCaller, createTestApi } from './api.ts';

export interface TestTaskOptions {
  readonly prompt?: string;
  readonly taskType?: TaskType;
  readonly model?: string;
  readonly maxTokens?: number;
  readonly webhookUrl?: string;
}

/** Tasks that are made by the api and moved by their activity without a workflow, on a clock that a test moves. */
export class TestTasks {
  readonly db: Database;
  readonly dependencies: ActivityDependencies;
  readonly #api: ReturnType<typeof createTestApi>;
  #aheadMs = 0;

  constructor(db: Database, overrides: Partial<ActivityDependencies> = {}) {
    this.db = db;
    this.dependencies = testDependencies(db, { now: this.now, ...overrides });
    this.#api = createTestApi(db, { now: this.now });
  }

  now = (): Date => new Date(Date.now() + this.#aheadMs);

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  /** A key of a new tenant, with a policy of its own where one is given. */
  async caller(policy: Record<string, unknown> = {}, limit: string | null = '1000'): Promise<TaskCaller> {
    const tenantId = await this.#api.tenant(limit);
    await this.db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, JSON.stringify(policy)]);
    return { tenantId, caller: await this.#api.caller('tenant_admin', { tenantId }) };
  }

  async create({ caller }: TaskCaller, options: TestTaskOptions = {}): Promise<string> {
    const { prompt = 'hello', taskType = 'OPENAI', model = 'gpt-4o-mini', maxTokens = 20, webhookUrl } = options;
    const payload = { prompt, model, maxTokens };
    const answer = await caller.post('/v1/async/task', { taskType, payload, ...(webhookUrl && { webhookUrl }) });
    if (answer.status !== 202) throw new Error(`create_task answered ${answer.status}: ${answer.text}`);
    return answer.json.id;
  }

  /** One call of the activity, in a context that a test may cancel. */
  attempt(
    taskId: string,
    { cancel, context = new MockActivityEnvironment(), dependencies = this.dependencies }: AttemptOptions = {},
  ): Promise<TaskStep> {
    const { attemptTask } = createTaskActivities(dependencies);
    return context.run(attemptTask, { taskId, ...(cancel !== undefined && { cancel }) });
  }

  /** As its workflow does: waits for as long as it is told, and attempts again. */
  async untilOver(taskId: string): Promise<TaskStep & { kind: 'over' }> {
    for (;;) {
      const step = await this.attempt(taskId);
      if (step.kind === 'over') return step;
      this.advance(step.delayMs);
    }
  }

  async row(taskId: string): Promise<TaskRow> {
    const task = await findTask(this.db.pool, null, taskId);
    if (task === null) throw new Error(`no task ${taskId}`);
    return task;
  }

  /** Its states with their codes, such as `QUEUED RATE_LIMITED`. */
  async history(taskId: string): Promise<string[]> {
    const transitions = await listTransitions(this.db.pool, await this.row(taskId));
    return transitions.map(({ state, attempt, code }) => [state, attempt, ...(code === null ? [] : [code])].join(' '));
  }

  /** Its events, each with what a webhook's delivery is made of. */
  async events(taskId: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
    const { uuid } = await this.row(taskId);
    const { rows } = await this.db.pool.query('SELECT type, data FROM events WHERE job_id = $1 ORDER BY event_no', [
      uuid,
    ]);
    return rows;
  }

  async openSlots({ tenantId }: TaskCaller): Promise<number> {
    const { rows } = await this.db.pool.query('SELECT in_use FROM task_slots WHERE tenant_id = $1', [tenantId]);
    return rows[0]?.in_use ?? 0;
  }

  /** The money of a task by its rows, and by its ledger. Throws where the ledger does not agree with itself. */
  async money(taskId: string): Promise<TaskMoney> {
    const { differences } = await verifyLedger(this.db, { jobId: taskId });
    if (differences.length > 0) throw new Error(JSON.stringify(differences));
    const { key } = await getJobRow(this.db.pool, taskId);
    const { rows } = await this.db.pool.query(
      `SELECT j.state, j.reserved_amount AS reserved, p.settled_amount AS settled, h.amount - h.drawn AS held, h.released,
         coalesce(j.overage_amount, 0) AS overage,
         (SELECT jsonb_object_agg(e.event, e.amount::text) FROM (
            SELECT event, sum(amount) AS amount FROM ledger_entries
            WHERE subject_id = j.job_id AND bucket = j.bucket AND account = 'tenant' GROUP BY event) e) AS entries
       FROM batch_jobs j JOIN job_progress p USING (job_id)
       JOIN holds h ON h.job_id = j.job_id AND h.scope = 'tenant' AND h.period = 'total' WHERE j.job_id = $1`,
      [key.uuid],
    );
    const [row] = rows;
    const released = row.released === null ? 0n : parseNumeric(row.released);
    return {
      state: row.state,
      reserved: parseNumeric(row.reserved),
      settled: parseNumeric(row.settled),
      overage: parseNumeric(row.overage),
      released,
      held: row.released === null ? parseNumeric(row.held) : 0n,
      events: Object.keys(row.entries).toSorted(),
    };
  }
}

export interface TaskCaller {
  readonly tenantId: string;
  readonly caller: ApiCaller;
}

interface AttemptOptions {
  readonly cancel?: boolean;
  readonly context?: MockActivityEnvironment;
  readonly dependencies?: ActivityDependencies;
}

export interface TaskMoney {
  /** Of its job. */
  readonly state: string;
  readonly reserved: bigint;
  readonly settled: bigint;
  readonly overage: bigint;
  readonly released: bigint;
  readonly held: bigint;
  /** Names of its ledger entries on the tenant's account. */
  readonly events: readonly string[];
}
