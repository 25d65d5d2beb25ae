import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../db/api-keys.ts';
import { toUuid } from '../../db/ids.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import { type ChaosStack, startChaosStack } from '../chaos/chaos-stack.ts';
import { StubbornClient } from '../chaos/stubborn-client.ts';
import { eventually } from '../harness/eventually.ts';
import { insertTenant } from '../harness/jobs.ts';
import {
  answers,
  isSignedWith,
  type ReceivedCall,
  startReceiver,
  type WebhookReceiver,
} from '../harness/webhook-receiver.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
const TASKS = isShort ? 200 : 2_000;
const WITHIN_MS = isShort ? 300_000 : 1_500_000;
const AT_ONCE = 12;
const REPLY_LATENCY_MS = 300;
/** Before a worker is killed, so that it has some tasks in hand. */
const SLOW_REPLY_MS = 5_000;
const IN_HAND = 10;
const LOOK_EVERY_MS = 100;
const SWEEP_EVERY_MS = 2_000;
/** One that never hears is given up after half an hour; nobody waits for that here. */
const GIVE_UP_AFTER_MS = 6_000;

const FATES = ['answered', 'once', 'never'] as const;
type Fate = (typeof FATES)[number];
const MARKS: Record<Fate, string> = {
  answered: '',
  once: '[[sim:error=server_error]][[sim:once]]',
  never: '[[sim:error=server_error]]',
};

/** 10 in 100 fail once, 2 in 100 always. */
function fateOf(index: number): Fate {
  if (index % 50 === 7) return 'never';
  return index % 10 === 3 ? 'once' : 'answered';
}

interface Tenant {
  readonly tenantId: string;
  readonly client: StubbornClient;
  readonly receiver: WebhookReceiver;
  readonly secret: string;
}

interface Task {
  readonly id: string;
  readonly fate: Fate;
  readonly tenant: Tenant;
}

interface TaskAnswer {
  readonly id: string;
  readonly status: string;
  readonly response: { readonly text: string } | null;
  readonly error: { readonly code: string } | null;
  readonly attempts: number;
  readonly history: readonly { readonly status: string; readonly code: string | null }[];
}

let stack: ChaosStack;
let moody: Tenant;
let deaf: Tenant;
const tasks: Task[] = [];
const shown = new Map<string, TaskAnswer>();

/** All tasks, with workers killed and Temporal restarted among them, until every one and every webhook has come to its end. */
beforeAll(async () => {
  stack = await startChaosStack({
    BATCHGATE_ALLOWED_FETCH_HOSTS: '127.0.0.1',
    BATCHGATE_TASK_RETRY_MS: '150',
    BATCHGATE_REQUESTS_PER_MINUTE: '1000000',
  });
  await stack.control.settings({ openai: { replyLatencyMs: REPLY_LATENCY_MS } });
  moody = await newTenant(failsNowAndThen());
  deaf = await newTenant(answers(500));
  const posted = postAll();
  await atEnded(0.1, () => killAtWork(0));
  await atEnded(0.25, () => killAtWork(1));
  if (isShort) await posted;
  await atEnded(0.5, () => stack.restartTemporal('SIGKILL'));
  await posted;
  await eventually(noTaskIsOpen, { timeoutMs: WITHIN_MS });
  await eventually(noDeliveryIsPending, { timeoutMs: WITHIN_MS });
  for (const { id, tenant } of tasks) {
    const { json } = await tenant.client.call('GET', `/v1/async/task/${id}?include=history`);
    shown.set(id, json as TaskAnswer);
  }
}, WITHIN_MS);

afterAll(async () => {
  await stack.stop();
  await Promise.all([moody, deaf].map(({ receiver }) => receiver.close()));
}, 120_000);

/** Every fifth call, but for one that is tried again. */
function failsNowAndThen(): WebhookReceiver['answer'] {
  let calls = 0;
  return (response, { headers }) => {
    calls += 1;
    response.writeHead(calls % 5 === 0 && headers['webhook-attempt'] === '1' ? 503 : 204).end();
  };
}

async function newTenant(answer: WebhookReceiver['answer']): Promise<Tenant> {
  const { tenantId } = await insertTenant(stack.db, { limit: '1000' });
  const { key } = await createKey(stack.db.pool, { role: 'tenant_admin', name: 'tasks', tenantId });
  const client = new StubbornClient(stack.apiUrl, key);
  const receiver = await startReceiver();
  receiver.answer = answer;
  const { json } = await client.call('POST', '/v1/webhooks', { json: { url: receiver.url } });
  return { tenantId, client, receiver, secret: (json as { secret: string }).secret };
}

async function postAll(): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < TASKS) {
      const index = next;
      next += 1;
      tasks.push(await post(index));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** Every tenth task is of the tenant that never hears. Beyond the limit of open tasks, and while servers are away, again. */
async function post(index: number): Promise<Task> {
  const tenant = index % 10 === 9 ? deaf : moody;
  const fate = fateOf(index);
  const payload = { prompt: `${MARKS[fate]} question ${index}`, model: 'gpt-4o-mini', maxTokens: 40 };
  const { status, json, text } = await tenant.client.call('POST', '/v1/async/task', {
    json: { taskType: 'OPENAI', payload },
    idempotencyKey: `task-${index}`,
  });
  if (status !== 202) throw new Error(`a task was answered ${status}: ${text}`);
  return { id: (json as TaskAnswer).id, fate, tenant };
}

async function atEnded(part: number, act: () => void | Promise<void>): Promise<void> {
  await eventually(async () => (await countEnded()) >= TASKS * part, { timeoutMs: WITHIN_MS });
  await act();
}

async function killAtWork(worker: number): Promise<void> {
  await stack.control.settings({ openai: { replyLatencyMs: SLOW_REPLY_MS } });
  await eventually(
    async () => {
      const { rows } = await stack.db.pool.query("SELECT 1 FROM async_tasks WHERE state = 'PROCESSING'");
      return rows.length >= IN_HAND;
    },
    { timeoutMs: WITHIN_MS },
  );
  stack.killWorker(worker);
  await stack.control.settings({ openai: { replyLatencyMs: REPLY_LATENCY_MS } });
}

async function countEnded(): Promise<number> {
  await delay(LOOK_EVERY_MS);
  await shortenTrials();
  const { rows } = await stack.db.pool.query<{ ended: number }>(
    "SELECT count(*)::int AS ended FROM async_tasks WHERE state IN ('COMPLETED', 'FAILED')",
  );
  return rows[0]?.ended ?? 0;
}

/** Of the tenant that never hears: from its first attempt on a delivery says itself when it is given up. */
async function shortenTrials(): Promise<void> {
  await stack.db.pool.query(
    `UPDATE webhook_deliveries SET give_up_after_ms = $2, give_up_at = created_at + $2 * interval '1 millisecond'
     WHERE tenant_id = $1 AND state = 'pending' AND give_up_after_ms <> $2`,
    [deaf.tenantId, GIVE_UP_AFTER_MS],
  );
}

async function noDeliveryIsPending(): Promise<boolean> {
  await shortenTrials();
  const { rows } = await stack.db.pool.query<{ pending: number }>(
    "SELECT count(*)::int AS pending FROM webhook_deliveries WHERE state = 'pending'",
  );
  if (rows[0]?.pending === 0) return true;
  await hurrySweep('sweep-webhooks', 'webhook_deliveries', "state = 'pending'");
  return false;
}

async function noTaskIsOpen(): Promise<boolean> {
  if ((await countEnded()) === TASKS) return true;
  await hurrySweep('sweep-tasks', 'async_tasks', "state = 'QUEUED'");
  return false;
}

/**
 * What a process was about to start when it, or Temporal, was killed is found by a sweep, once it is overdue for minutes. A short run
 * does as if these had passed.
 */
async function hurrySweep(sweep: string, table: string, condition: string): Promise<void> {
  await delay(SWEEP_EVERY_MS);
  if (!isShort) return;
  await stack.db.pool.query(
    `UPDATE ${table} SET next_attempt_at = next_attempt_at - interval '3 minutes'
     WHERE ${condition} AND next_attempt_at < now() - interval '3 seconds'`,
  );
  const trigger = () => stack.temporal.schedule.getHandle(`batchgate/${sweep}`).trigger();
  // Temporal may not be back yet.
  await stack.temporal.connection.withDeadline(Date.now() + 2_000, trigger).catch(() => undefined);
}

function answerOf({ id }: Task): TaskAnswer {
  const answer = shown.get(id);
  if (answer === undefined) throw new Error(`${id} was not shown`);
  return answer;
}

test('every task ends as its provider answered it, and tells of each attempt', () => {
  expect(tasks).toHaveLength(TASKS);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(TASKS);
  for (const task of tasks) {
    const answer = answerOf(task);
    if (task.fate === 'never')
      expect(answer).toMatchObject({
        status: 'FAILED',
        response: null,
        error: { code: expect.stringMatching(/^(PROVIDER_SERVER_ERROR|LEASE_LOST)$/) },
      });
    else expect(answer).toMatchObject({ status: 'COMPLETED', error: null, response: { text: expect.any(String) } });
    if (task.fate !== 'answered') expect(answer.attempts).toBeGreaterThan(1);
    const states = answer.history.map(({ status }) => status);
    expect(states.filter((status) => status === 'PROCESSING')).toHaveLength(answer.attempts);
    expect(states.join(' ')).toMatch(/^(QUEUED PROCESSING )+(COMPLETED|FAILED)$/);
  }
});

test('workers that were killed were noticed: others took their tasks over', () => {
  const lost = [...shown.values()].flatMap(({ history }) => history).filter(({ code }) => code === 'LEASE_LOST');
  expect(lost.length).toBeGreaterThan(0);
});

interface Charge {
  readonly task_id: string;
  readonly settled: number;
  readonly amount: string;
  readonly reply_id: string | null;
}

test('each success is charged once, for one of the calls that its provider completed, and nothing else is charged', async () => {
  const { rows } = await stack.db.pool.query<Charge>(
    `SELECT t.task_id, (r.body::json ->> 'id') AS reply_id,
       count(l.*)::int AS settled, coalesce(sum(l.amount), 0)::text AS amount
     FROM async_tasks t
     LEFT JOIN ledger_entries l ON l.subject_id = t.task_id AND l.event = 'task.item.settled'
     LEFT JOIN item_results r ON r.job_id = t.task_id
     GROUP BY t.task_id, r.body`,
  );
  const charges = new Map(rows.map((row) => [row.task_id, row]));
  const calls = await stack.control.journal({ route: 'chat.completions.create' });
  const completed = new Set(calls.filter(({ status }) => status === 200).map(({ facts }) => facts['reply_id']));
  const charged = tasks.filter(({ fate }) => fate !== 'never');
  for (const task of tasks) {
    const charge = charges.get(toUuid('task', task.id) ?? '');
    expect(charge?.settled).toBe(task.fate === 'never' ? 0 : 1);
    expect(Number(charge?.amount) > 0).toBe(task.fate !== 'never');
    if (task.fate !== 'never') expect(completed).toContain(charge?.reply_id);
  }
  expect(new Set(charged.map(({ id }) => charges.get(toUuid('task', id) ?? '')?.reply_id)).size).toBe(charged.length);
  // What was asked in vain is what a killed worker had in hand.
  const lost = [...shown.values()].flatMap(({ history }) => history).filter(({ code }) => code === 'LEASE_LOST').length;
  expect(completed.size - charged.length).toBeLessThanOrEqual(lost);
});

function callsById({ receiver }: Tenant): Map<string, ReceivedCall[]> {
  return Map.groupBy(receiver.calls, ({ headers }) => headers['webhook-id'] ?? '');
}

async function deliveryStates({ tenantId }: Tenant): Promise<Map<string, string>> {
  const { rows } = await stack.db.pool.query<{ subject_id: string; state: string }>(
    'SELECT subject_id, state FROM webhook_deliveries WHERE tenant_id = $1',
    [tenantId],
  );
  expect(new Set(rows.map((row) => row.subject_id)).size).toBe(rows.length);
  return new Map(rows.map((row) => [row.subject_id, row.state]));
}

test('each webhook is delivered with the task as it is shown, and in every call of it the same bytes', async () => {
  const told = new Map<string, TaskAnswer>();
  for (const calls of callsById(moody).values()) {
    const [first] = calls;
    if (first === undefined) continue;
    for (const call of calls) {
      expect(call.bytes.equals(first.bytes)).toBe(true);
      expect(isSignedWith(moody.secret, call)).toBe(true);
    }
    const { type, data } = JSON.parse(first.bytes.toString());
    expect(type).toBe(`task.${data.status.toLowerCase()}`);
    expect(told.has(data.id)).toBe(false);
    told.set(data.id, data);
  }
  const states = await deliveryStates(moody);
  for (const task of tasks.filter(({ tenant }) => tenant === moody)) {
    const { history: _, ...answer } = answerOf(task);
    expect(told.get(task.id)).toEqual(answer);
    expect(states.get(task.id)).toBe('delivered');
  }
});

test('of a receiver that never hears each abandonment is on record, with the calls that were made', async () => {
  const states = await deliveryStates(deaf);
  const own = tasks.filter(({ tenant }) => tenant === deaf);
  expect(states.size).toBe(own.length);
  for (const { id } of own) expect(states.get(id)).toBe('abandoned');
  expect(callsById(deaf).size).toBe(own.length);
});

test('every slot is free, no money is held, and no workflow is left', async () => {
  const { rows } = await stack.db.pool.query<{ in_use: number }>('SELECT in_use FROM task_slots');
  expect(rows.map((row) => row.in_use)).toEqual([0, 0]);
  for (const { client } of [moody, deaf]) {
    const { json } = await client.call('GET', '/v1/budgets');
    const [budget] = (json as { data: { held: string; settled: string }[] }).data;
    expect(budget?.held).toBe('0.00');
    expect(Number(budget?.settled)).toBeGreaterThan(0);
  }
  const open = `WorkflowType = 'asyncTask' AND ExecutionStatus = 'Running'`;
  await eventually(async () => (await stack.temporal.workflow.count(open)).count === 0, { timeoutMs: 60_000 });
});

test('the ledger adds up', async () => {
  const report = await verifyLedger(stack.db);
  expect(report).toMatchObject({ jobs: TASKS, items: TASKS, differences: [] });
});
