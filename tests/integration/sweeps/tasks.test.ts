import { afterAll, beforeEach, expect, test } from 'vitest';
import type { TaskControl } from '../../../activities/dependencies.ts';
import { moveTask } from '../../../db/task-rows.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { TestTasks } from '../../harness/task-attempts.ts';
import { findings, sweeper } from './sweep-fixture.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

let tasks: TestTasks;
let sweep: ReturnType<typeof sweeper>;
let calls: string[];
let running: Set<string>;
beforeEach(async () => {
  await db.pool.query('DELETE FROM sweep_findings');
  await db.pool.query("UPDATE async_tasks SET next_attempt_at = 'infinity' WHERE state = 'QUEUED'");
  tasks = new TestTasks(db);
  [calls, running] = [[], new Set()];
  const control: TaskControl = {
    start: async ({ taskId, provider, providerModel }) => {
      calls.push(`start ${taskId} ${provider}/${providerModel}`);
      return !running.has(taskId);
    },
    wake: async (taskId) => void calls.push(`wake ${taskId}`),
  };
  sweep = sweeper(db, { tasks: control, now: tasks.now });
});

const MINUTE_MS = 60_000;

test('a queued task without a workflow is started again, and one that is not due is left alone', async () => {
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  expect(await sweep('sweepTasks')).toEqual({ looked: 0, repaired: 0, raised: 0, failed: 0 });
  tasks.advance(MINUTE_MS + 1_000);
  expect(await sweep('sweepTasks')).toEqual({ looked: 1, repaired: 1, raised: 0, failed: 0 });
  expect(calls).toEqual([`start ${taskId} openai/gpt-4o-mini`]);
  expect(await findings(db)).toMatchObject([
    {
      ...{ kind: 'task_without_workflow', subject: taskId, jobId: taskId, tenantId: tenant.tenantId },
      ...{ outcome: 'repaired', facts: { state: 'QUEUED', attempts: 0 } },
    },
  ]);
});

test('one whose workflow runs waits for a worker, which is no finding', async () => {
  const taskId = await tasks.create(await tasks.caller());
  running.add(taskId);
  tasks.advance(MINUTE_MS + 1_000);
  expect(await sweep('sweepTasks')).toEqual({ looked: 1, repaired: 0, raised: 0, failed: 0 });
  expect(await findings(db)).toEqual([]);
});

test('one that is PROCESSING past its lease is started again', async () => {
  const taskId = await tasks.create(await tasks.caller());
  const row = await tasks.row(taskId);
  const leasedUntil = new Date(tasks.now().getTime() + 15_000);
  await moveTask(db.pool, row, { to: 'PROCESSING', at: tasks.now(), attempt: 1, leasedUntil });
  tasks.advance(MINUTE_MS);
  expect((await sweep('sweepTasks')).looked).toBe(0);
  tasks.advance(16_000);
  expect((await sweep('sweepTasks')).repaired).toBe(1);
  expect(calls).toEqual([`start ${taskId} openai/gpt-4o-mini`]);
});

test('one that was cancelled, its money still held, is woken where it runs and started where it does not', async () => {
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  await tenant.caller.call('DELETE', `/v1/async/task/${taskId}`);
  running.add(taskId);
  tasks.advance(MINUTE_MS + 1_000);
  await sweep('sweepTasks');
  expect(calls).toEqual([`start ${taskId} openai/gpt-4o-mini`, `wake ${taskId}`]);
  running.clear();
  expect((await sweep('sweepTasks')).repaired).toBe(1);
  await tasks.attempt(taskId);
  expect((await sweep('sweepTasks')).looked).toBe(0);
});

test('a count of open tasks that is wrong is set right and told of, in either direction and where there is none', async () => {
  const [much, little, none, right] = await Promise.all([1, 2, 3, 4].map(() => tasks.caller()));
  if (!much || !little || !none || !right) throw new Error('four tenants');
  for (const tenant of [much, little, none, right]) await tasks.create(tenant);
  const set = (tenantId: string, inUse: number) =>
    db.pool.query('UPDATE task_slots SET in_use = $2 WHERE tenant_id = $1', [tenantId, inUse]);
  await set(much.tenantId, 7);
  await set(little.tenantId, 0);
  await db.pool.query('DELETE FROM task_slots WHERE tenant_id = $1', [none.tenantId]);
  expect(await sweep('sweepTaskSlots')).toEqual({ looked: 3, repaired: 3, raised: 0, failed: 0 });
  for (const tenant of [much, little, none, right]) expect(await tasks.openSlots(tenant)).toBe(1);
  const found = (await findings(db)).map(({ kind, subject, facts }) => ({ kind, subject, facts }));
  const wrong = (tenantId: string, counted: number) => ({
    ...{ kind: 'task_slots_wrong', subject: tenantId, facts: { counted, open: 1 } },
  });
  expect(found).toHaveLength(3);
  expect(found).toEqual(
    expect.arrayContaining([wrong(much.tenantId, 7), wrong(little.tenantId, 0), wrong(none.tenantId, 0)]),
  );
  expect((await sweep('sweepTaskSlots')).looked).toBe(0);
});

test('while tasks come and go the count stays exact, however often it is looked at and corrected', async () => {
  const tenant = await tasks.caller({ task_concurrency: 1_000 });
  await db.pool.query('INSERT INTO task_slots (tenant_id, in_use) VALUES ($1, 5)', [tenant.tenantId]);
  const isOver = { value: false };
  const sweeps = (async () => {
    let repaired = 0;
    while (!isOver.value) repaired += (await sweep('sweepTaskSlots')).repaired;
    return repaired;
  })();
  await Promise.all(
    Array.from({ length: 24 }, async (_, index) => {
      const taskId = await tasks.create(tenant);
      if (index % 2 === 0) await tasks.attempt(taskId, { cancel: true });
    }),
  );
  isOver.value = true;
  expect(await sweeps).toBe(1);
  expect((await sweep('sweepTaskSlots')).repaired).toBe(0);
  expect(await tasks.openSlots(tenant)).toBe(12);
});

test('a count that is too low keeps no task from ending', async () => {
  const tenant = await tasks.caller();
  const taskId = await tasks.create(tenant);
  await db.pool.query('UPDATE task_slots SET in_use = 0 WHERE tenant_id = $1', [tenant.tenantId]);
  expect(await tasks.attempt(taskId, { cancel: true })).toEqual({ kind: 'over', state: 'FAILED' });
  expect(await tasks.openSlots(tenant)).toBe(0);
});
