import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { ActivityDependencies } from '../../../activities/dependencies.ts';
import { GatewayError } from '../../../domain/gateway-error.ts';
import type { DirectAnswer } from '../../../providers/provider.ts';
import { fixedAdapters } from '../../../providers/provider-adapters.ts';
import { ProviderError, type ProviderErrorCode } from '../../../providers/provider-error.ts';
import { eventually } from '../../harness/eventually.ts';
import { FakeProvider } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { TestTasks } from '../../harness/task-attempts.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

let provider: FakeProvider;
let tasks: TestTasks;
beforeEach(() => {
  provider = new FakeProvider();
  tasks = new TestTasks(db, { providers: fixedAdapters(new Map([['openai', provider]])) });
});

const REPLY = '{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"model":"gpt-4o-mini"}';
const ANSWER: DirectAnswer = {
  kind: 'completed',
  body: REPLY,
  usage: { inputTokens: 10, outputTokens: 5 },
  model: 'gpt-4o-mini',
};
/** Of ANSWER at gpt-4o-mini's standard price, in 10⁻¹² USD: 0.15 and 0.60 USD a million tokens. */
const CHARGE = 10n * 150_000n + 5n * 600_000n;

function refused(code: ProviderErrorCode, retryAfterMs: number | null = null): ProviderError {
  return new ProviderError({ code, message: code, status: 429, retryAfterMs, isRetryable: true, mayHaveActed: false });
}

/** A provider whose calls wait until the test answers them. */
function heldCalls() {
  const calls: { answer: (answer: DirectAnswer) => void; refuse: (error: Error) => void; signal: AbortSignal }[] = [];
  provider.onComplete = ({ signal }) =>
    new Promise((resolve, reject) => {
      calls.push({ answer: resolve, refuse: reject, signal });
      const abort = () => reject(new ProviderError({ ...ABORTED }));
      signal.addEventListener('abort', abort);
    });
  return calls;
}

const ABORTED = { code: 'aborted', message: 'aborted', isRetryable: false, mayHaveActed: true } as const;

async function count(sql: string, taskId: string): Promise<number> {
  const { uuid } = await tasks.row(taskId);
  const { rows } = await db.pool.query(`SELECT count(*)::int AS n FROM ${sql}`, [uuid]);
  return rows[0].n;
}

const charges = (taskId: string) =>
  count("ledger_entries WHERE subject_id = $1 AND event = 'task.item.settled'", taskId);

test('an answer settles the item, ends task and job, frees the slot and is announced, all at once', async () => {
  const tenant = await tasks.caller();
  provider.onComplete = async () => ANSWER;
  const taskId = await tasks.create(tenant);
  expect(await tasks.openSlots(tenant)).toBe(1);
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect(await tasks.history(taskId)).toEqual(['QUEUED 0', 'PROCESSING 1', 'COMPLETED 1']);
  const money = await tasks.money(taskId);
  expect(money).toMatchObject({ state: 'completed', settled: CHARGE, overage: 0n, held: 0n });
  expect(money.reserved).toBe(money.settled + money.released);
  expect(money.events).toEqual([
    'task.estimated',
    'task.item.settled',
    'task.reconciled',
    'task.released',
    'task.reserved',
  ]);
  expect(await tasks.openSlots(tenant)).toBe(0);
  expect(await tasks.events(taskId)).toEqual([
    { type: 'task.completed', data: { task_id: taskId, status: 'COMPLETED' } },
  ]);
  const shown = await tenant.caller.get(`/v1/async/task/${taskId}`);
  expect(shown.json).toMatchObject({ status: 'COMPLETED', attempts: 1, error: null, response: { text: 'hi' } });
  expect(provider.completes).toMatchObject([{ endpoint: 'chat.completions', model: 'gpt-4o-mini' }]);
});

test('a repeat of an attempt that ended the task changes nothing, and asks nobody', async () => {
  provider.onComplete = async () => ANSWER;
  const taskId = await tasks.create(await tasks.caller());
  const step = await tasks.attempt(taskId);
  expect(await tasks.attempt(taskId)).toEqual(step);
  expect(await tasks.attempt(taskId, { cancel: true })).toEqual(step);
  expect(provider.completes).toHaveLength(1);
  expect(await charges(taskId)).toBe(1);
  expect(await tasks.events(taskId)).toHaveLength(1);
});

test('of two deliveries of one attempt one asks the provider, and the other waits for its lease', async () => {
  const calls = heldCalls();
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  const both = [tasks.attempt(taskId), tasks.attempt(taskId)];
  const second = await Promise.race(both);
  expect(second).toMatchObject({ kind: 'again' });
  expect(second.kind === 'again' && second.delayMs).toBeGreaterThan(10_000);
  await eventually(() => calls.length === 1);
  calls[0]?.answer(ANSWER);
  expect(await Promise.all(both)).toContainEqual({ kind: 'over', state: 'COMPLETED' });
  expect(await charges(taskId)).toBe(1);
  expect(await tasks.openSlots(tenant)).toBe(0);
});

test('a transient failure returns it to QUEUED, and it is not asked again before its time', async () => {
  provider.onComplete = async () => {
    throw refused('rate_limited', 30_000);
  };
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  const step = await tasks.attempt(taskId);
  expect(step).toEqual({ kind: 'again', delayMs: 33_000 });
  expect(await tasks.row(taskId)).toMatchObject({ state: 'QUEUED', attempts: 1, errorCode: 'RATE_LIMITED' });
  expect((await tenant.caller.get(`/v1/async/task/${taskId}`)).json).toMatchObject({ status: 'QUEUED', error: null });
  expect(await tasks.openSlots(tenant)).toBe(1);
  tasks.advance(20_000);
  const early = await tasks.attempt(taskId);
  expect(early.kind === 'again' && early.delayMs).toBeLessThanOrEqual(13_000);
  expect(provider.completes).toHaveLength(1);
  provider.onComplete = async () => ANSWER;
  tasks.advance(13_000);
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect(await tasks.history(taskId)).toEqual([
    'QUEUED 0',
    'PROCESSING 1',
    'QUEUED 1 RATE_LIMITED',
    'PROCESSING 2',
    'COMPLETED 2',
  ]);
  expect((await tasks.money(taskId)).settled).toBe(CHARGE);
});

test.each([
  ['rate_limited', 'RATE_LIMITED'],
  ['unavailable', 'PROVIDER_SERVER_ERROR'],
  ['connection_lost', 'PROVIDER_UNREACHABLE'],
  ['timed_out', 'PROVIDER_TIMEOUT'],
  ['malformed_reply', 'MALFORMED_RESULT'],
] as const)('%s is tried as often as is set, and then it is FAILED with %s, free of charge', async (code, shown) => {
  provider.onComplete = async () => {
    throw refused(code);
  };
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  expect(await tasks.untilOver(taskId)).toEqual({ kind: 'over', state: 'FAILED' });
  expect(provider.completes).toHaveLength(3);
  expect((await tasks.history(taskId)).at(-1)).toBe(`FAILED 3 ${shown}`);
  const money = await tasks.money(taskId);
  expect(money).toMatchObject({ state: 'failed', settled: 0n, held: 0n, released: money.reserved });
  const task = (await tenant.caller.get(`/v1/async/task/${taskId}`)).json;
  expect(task).toMatchObject({ status: 'FAILED', attempts: 3, response: null, error: { code: shown } });
  expect(await tasks.openSlots(tenant)).toBe(0);
  expect((await tasks.events(taskId)).map(({ type }) => type)).toEqual(['task.failed']);
});

test.each([
  ['credential_refused', 'PROVIDER_CREDENTIAL_REJECTED'],
  ['quota_exhausted', 'PROVIDER_ACCOUNT_EXHAUSTED'],
  ['not_found', 'MODEL_UNAVAILABLE'],
  ['rejected', 'INVALID_REQUEST'],
] as const)('%s ends it at once as %s', async (code, shown) => {
  provider.onComplete = async () => {
    throw refused(code, 1_000);
  };
  const taskId = await tasks.create(await tasks.caller());
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'FAILED' });
  expect(await tasks.history(taskId)).toEqual(['QUEUED 0', 'PROCESSING 1', `FAILED 1 ${shown}`]);
  expect(provider.completes).toHaveLength(1);
});

test('a worker that was lost: the next one goes on once the lease is over, and the late answer of the first is charged to nobody', async () => {
  const calls = heldCalls();
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  const zombie = tasks.attempt(taskId);
  await eventually(() => calls.length === 1);
  expect(await tasks.attempt(taskId)).toMatchObject({ kind: 'again' });
  tasks.advance(16_000);
  const second = tasks.attempt(taskId);
  await eventually(() => calls.length === 2);
  expect(await tasks.history(taskId)).toEqual(['QUEUED 0', 'PROCESSING 1', 'QUEUED 1 LEASE_LOST', 'PROCESSING 2']);
  calls[0]?.answer({ ...ANSWER, body: '{"late":true}', usage: { inputTokens: 900, outputTokens: 900 } });
  expect(await zombie).toMatchObject({ kind: 'again' });
  expect(await charges(taskId)).toBe(0);
  calls[1]?.answer(ANSWER);
  expect(await second).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect(await tasks.money(taskId)).toMatchObject({ settled: CHARGE, held: 0n });
  expect(await charges(taskId)).toBe(1);
});

test('a late answer that comes after the end changes nothing either', async () => {
  const calls = heldCalls();
  const taskId = await tasks.create(await tasks.caller());
  const zombie = tasks.attempt(taskId);
  await eventually(() => calls.length === 1);
  tasks.advance(16_000);
  provider.onComplete = async () => ANSWER;
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
  calls[0]?.refuse(refused('rate_limited'));
  expect(await zombie).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect(await charges(taskId)).toBe(1);
  expect((await tasks.history(taskId)).at(-1)).toBe('COMPLETED 2');
});

test('workers that are lost as often as it is tried end it as LEASE_LOST', async () => {
  heldCalls();
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  for (const attempt of [1, 2, 3]) {
    void tasks.attempt(taskId).catch(() => undefined);
    await eventually(() => provider.completes.length === attempt);
    tasks.advance(16_000);
  }
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'FAILED' });
  expect((await tasks.history(taskId)).at(-1)).toBe('FAILED 3 LEASE_LOST');
  expect(await tasks.money(taskId)).toMatchObject({ settled: 0n, held: 0n });
  expect(await tasks.openSlots(tenant)).toBe(0);
});

test('while it is asked its lease is renewed, and one that another has taken ends the call', async () => {
  const calls = heldCalls();
  const taskId = await tasks.create(await tasks.caller());
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const attempt = tasks.attempt(taskId);
    await eventually(() => calls.length === 1);
    const before = (await tasks.row(taskId)).leasedUntil;
    tasks.advance(6_000);
    vi.advanceTimersByTime(5_000);
    await eventually(async () => (await tasks.row(taskId)).leasedUntil?.getTime() !== before?.getTime());
    expect((await tasks.row(taskId)).leasedUntil?.getTime()).toBeGreaterThan((before?.getTime() ?? 0) + 5_000);
    await db.pool.query('UPDATE async_tasks SET attempts = 2 WHERE task_id = $1', [(await tasks.row(taskId)).uuid]);
    vi.advanceTimersByTime(5_000);
    expect(await attempt).toMatchObject({ kind: 'again' });
    expect(calls[0]?.signal.aborted).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('a worker that stops in order gives its task back at once, and no attempt is counted', async () => {
  const calls = heldCalls();
  const taskId = await tasks.create(await tasks.caller());
  for (const stop of [1, 2, 3, 4]) {
    const context = new MockActivityEnvironment();
    const attempt = tasks.attempt(taskId, { context });
    await eventually(() => calls.length === stop);
    context.cancel('WORKER_SHUTDOWN');
    expect(await attempt).toEqual({ kind: 'again', delayMs: 1 });
    expect((await tasks.history(taskId)).at(-1)).toBe(`QUEUED ${stop} WORKER_STOPPED`);
  }
  provider.onComplete = async () => {
    throw refused('rate_limited');
  };
  expect(await tasks.untilOver(taskId)).toEqual({ kind: 'over', state: 'FAILED' });
  expect(provider.completes).toHaveLength(4 + 3);
});

/** As where a step of the transaction that writes an answer down fails, after its money has moved. */
function failingAtTheEnd(error: Error, times: number): ActivityDependencies {
  let failures = 0;
  const { cipher } = tasks.dependencies;
  return {
    ...tasks.dependencies,
    cipher: {
      ...{ currentKeyId: cipher.currentKeyId, open: cipher.open, keyIdOf: cipher.keyIdOf },
      seal: async (plain, context) => {
        failures += 1;
        if (failures <= times) throw error;
        return cipher.seal(plain, context);
      },
    },
  };
}

test('a crash between answer and commit: the task is asked once more, and charged once', async () => {
  provider.onComplete = async () => ANSWER;
  const taskId = await tasks.create(await tasks.caller({ storage: 'hashes' }));
  const dependencies = failingAtTheEnd(new Error('the process died'), 1);
  await expect(tasks.attempt(taskId, { dependencies })).rejects.toThrow('the process died');
  expect(await tasks.row(taskId)).toMatchObject({ state: 'PROCESSING', attempts: 1 });
  expect(await charges(taskId)).toBe(0);
  expect(await tasks.money(taskId)).toMatchObject({ state: 'queued', settled: 0n });
  tasks.advance(16_000);
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect(provider.completes).toHaveLength(2);
  expect(await charges(taskId)).toBe(1);
  expect(await tasks.money(taskId)).toMatchObject({ settled: CHARGE, held: 0n });
});

test('an answer is written down although Postgres is away for a moment: nobody is asked twice', async () => {
  provider.onComplete = async () => ANSWER;
  const taskId = await tasks.create(await tasks.caller({ storage: 'hashes' }));
  const dependencies = failingAtTheEnd(new GatewayError('dependency_unavailable', 'away'), 1);
  expect(await tasks.attempt(taskId, { dependencies })).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect(provider.completes).toHaveLength(1);
  expect(await charges(taskId)).toBe(1);
});

test('a cancelled task is settled free of charge, its hold released, and its slot freed once', async () => {
  const tenant = await tasks.caller();
  const other = await tasks.create(tenant);
  const taskId = await tasks.create(tenant);
  const answer = await tenant.caller.call('DELETE', `/v1/async/task/${taskId}`);
  expect(answer.json).toMatchObject({ status: 'FAILED', error: { code: 'CANCELLED' } });
  expect(await tasks.openSlots(tenant)).toBe(1);
  const money = await tasks.money(taskId);
  expect(money.held).toBe(money.reserved);
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'FAILED' });
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'FAILED' });
  expect(await tasks.money(taskId)).toMatchObject({
    state: 'cancelled',
    settled: 0n,
    held: 0n,
    released: money.reserved,
  });
  expect(await tasks.history(taskId)).toEqual(['QUEUED 0', 'FAILED 0 CANCELLED']);
  expect((await tasks.events(taskId)).map(({ type }) => type)).toEqual(['task.failed']);
  expect(await tasks.openSlots(tenant)).toBe(1);
  expect((await tenant.caller.get(`/v1/async/task/${taskId}`)).text).toBe(answer.text);
  expect(provider.completes).toEqual([]);
  expect((await tasks.row(other)).state).toBe('QUEUED');
});

test("Temporal's own cancel ends a queued task likewise, and lets one under way go on", async () => {
  const calls = heldCalls();
  const tenant = await tasks.caller();
  const queued = await tasks.create(tenant);
  expect(await tasks.attempt(queued, { cancel: true })).toEqual({ kind: 'over', state: 'FAILED' });
  expect(await tasks.history(queued)).toEqual(['QUEUED 0', 'FAILED 0 CANCELLED']);
  expect(await tasks.money(queued)).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
  expect(await tasks.openSlots(tenant)).toBe(0);
  const underWay = await tasks.create(tenant);
  const attempt = tasks.attempt(underWay);
  await eventually(() => calls.length === 1);
  expect(await tasks.attempt(underWay, { cancel: true })).toMatchObject({ kind: 'again' });
  calls[0]?.answer(ANSWER);
  expect(await attempt).toEqual({ kind: 'over', state: 'COMPLETED' });
});

test('a task that was cancelled while it was asked for is not asked for again once its worker is lost', async () => {
  heldCalls();
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  void tasks.attempt(taskId).catch(() => undefined);
  await eventually(() => provider.completes.length === 1);
  tasks.advance(16_000);
  expect(await tasks.attempt(taskId, { cancel: true })).toEqual({ kind: 'over', state: 'FAILED' });
  expect(await tasks.history(taskId)).toEqual([
    'QUEUED 0',
    'PROCESSING 1',
    'QUEUED 1 LEASE_LOST',
    'FAILED 1 CANCELLED',
  ]);
  expect(provider.completes).toHaveLength(1);
  expect(await tasks.money(taskId)).toMatchObject({ settled: 0n, held: 0n });
  expect(await tasks.openSlots(tenant)).toBe(0);
});

test('no transaction is open while the provider is asked', async () => {
  const calls = heldCalls();
  const taskId = await tasks.create(await tasks.caller());
  const attempt = tasks.attempt(taskId);
  await eventually(() => calls.length === 1);
  const { rows } = await db.pool.query(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
  );
  expect(rows[0].n).toBe(0);
  calls[0]?.answer(ANSWER);
  await attempt;
});

test('an id that no task has is told to nobody twice', async () => {
  await expect(tasks.attempt('task_01j7zb8k3te9aabfm0z0e2d3k4')).rejects.toMatchObject({ type: 'unknown_task' });
  await expect(tasks.attempt('no-id')).rejects.toMatchObject({ type: 'unknown_task', nonRetryable: true });
});
