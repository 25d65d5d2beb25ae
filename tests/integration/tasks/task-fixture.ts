import { createTaskActivities } from '../../../activities/tasks/create-task-activities.ts';
import type { Database } from '../../../db/client.ts';
import type { DirectAnswer } from '../../../providers/provider.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { type ApiCaller, createTestApi, type TestApi } from '../../harness/api.ts';
import { FakeProvider } from '../../harness/fake-provider.ts';

export const TASKS = '/v1/async/task';

/** A reply in the shape that every adapter gives. */
function replyOf(text: string): DirectAnswer {
  const body = JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'gpt-5.6-luna',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  });
  const usage = { inputTokens: 12, outputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return { kind: 'completed', body, usage: { ...usage, estimated: false }, model: 'gpt-5.6-luna' } as DirectAnswer;
}

/** The api over a database, and the attempts of its tasks, under one clock that a test moves. */
export class TaskFixture {
  clockMs = Date.now();
  readonly db: Database;
  readonly api: TestApi;
  readonly provider = new FakeProvider();

  constructor(db: Database) {
    this.db = db;
    this.api = createTestApi(db, { now: this.now });
    this.provider.onComplete = async () => replyOf('Paris');
  }

  now = (): Date => new Date(this.clockMs);

  /** The id of a new task. */
  async post(caller: ApiCaller, more: Record<string, unknown> = {}, prompt = 'Capital of France?'): Promise<string> {
    const answer = await caller.post(TASKS, { taskType: 'OPENAI', payload: { prompt }, ...more });
    if (answer.status !== 202) throw new Error(`create_task answered ${answer.status}: ${answer.text}`);
    return answer.json.id;
  }

  /** One attempt, as a worker makes it. */
  attempt(taskId: string) {
    const dependencies = testDependencies(this.db, { provider: this.provider, now: this.now });
    return runActivity(createTaskActivities(dependencies).attemptTask, { taskId });
  }

  /** One attempt that does something while its provider is asked. */
  async during(taskId: string, work: () => Promise<void>): Promise<void> {
    const { onComplete } = this.provider;
    let failure: unknown = null;
    this.provider.onComplete = async (input) => {
      this.provider.onComplete = onComplete;
      await work().catch((error: unknown) => {
        failure = error;
      });
      return onComplete(input);
    };
    await this.attempt(taskId);
    if (failure !== null) throw failure;
  }

  /** Has a task fail for good. */
  async fail(taskId: string): Promise<void> {
    const { onComplete } = this.provider;
    const words = { message: 'no', nativeType: null, nativeCode: null, statusCode: 400 };
    this.provider.onComplete = async () => ({ kind: 'failed', class: 'validation', code: 'invalid_request', ...words });
    await this.attempt(taskId);
    this.provider.onComplete = onComplete;
  }

  /** How many rows there are of a tenant, by table. */
  async rows(tenantId: string): Promise<Record<string, number>> {
    const { rows } = await this.db.pool.query<Record<string, number>>(
      `SELECT (SELECT count(*)::int FROM async_tasks WHERE tenant_id = $1) AS tasks,
         (SELECT count(*)::int FROM batch_jobs WHERE tenant_id = $1) AS jobs,
         (SELECT count(*)::int FROM item_requests r JOIN batch_jobs j USING (job_id) WHERE j.tenant_id = $1) AS requests,
         (SELECT count(*)::int FROM holds h JOIN batch_jobs j USING (job_id) WHERE j.tenant_id = $1) AS holds,
         (SELECT count(*)::int FROM ledger_entries l JOIN batch_jobs j ON j.job_id = l.subject_id WHERE j.tenant_id = $1) AS ledger,
         (SELECT count(*)::int FROM audit_log WHERE tenant_id = $1) AS audit,
         (SELECT count(*)::int FROM events WHERE tenant_id = $1) AS events,
         (SELECT count(*)::int FROM direct_webhooks WHERE tenant_id = $1) AS webhooks,
         (SELECT coalesce(sum(in_use), 0)::int FROM task_slots WHERE tenant_id = $1) AS slots,
         (SELECT coalesce(sum(p.held), 0)::float8 FROM budget_periods p JOIN budgets b USING (budget_id) WHERE b.tenant_id = $1) AS held`,
      [tenantId],
    );
    const [found] = rows;
    if (found === undefined) throw new Error('a count without a row');
    return found;
  }
}
