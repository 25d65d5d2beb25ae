import { afterAll, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { TaskFixture } from './task-fixture.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const fixture = new TaskFixture(db);
const operator = await fixture.api.caller('operator');
const tenantId = await fixture.api.tenant('1000');
const owner = await fixture.api.caller('tenant_admin', { tenantId });
const DAY_MS = 24 * 3_600_000;

const pathOf = (taskId: string) => `/v1/operator/tasks/${taskId}/refund`;

async function endedTask(): Promise<string> {
  const taskId = await fixture.post(owner);
  await fixture.attempt(taskId);
  return taskId;
}

async function settledOfBudget(): Promise<string> {
  return (await owner.get('/v1/budgets')).json.data[0].settled;
}

test('a task is given back whole, once, on its budget and its ledger, by whom and why', async () => {
  const taskId = await endedTask();
  const before = await settledOfBudget();
  const answer = await operator.post(pathOf(taskId), { reason: 'the answer was cut off' });
  expect(answer).toMatchObject({
    status: 200,
    json: { task_id: taskId, refunded: answer.json.charged, currency: 'USD', reason: 'the answer was cut off' },
  });
  expect(Number(answer.json.refunded)).toBeGreaterThan(0);
  const after = await settledOfBudget();
  expect(Number(before) - Number(after)).toBeCloseTo(Number(answer.json.refunded), 12);
  expect((await operator.post(pathOf(taskId), { reason: 'the answer was cut off' })).text).toBe(answer.text);
  const other = await operator.post(pathOf(taskId), { reason: 'another' });
  expect(other).toMatchObject({
    status: 409,
    json: { error: 'conflict', message: expect.stringContaining('The task') },
  });
  expect(await settledOfBudget()).toBe(after);
  const { rows: entries } = await db.pool.query(
    "SELECT actor, cause FROM ledger_entries WHERE subject_id = $1 AND event = 'task.item.refunded'",
    [toUuid('task', taskId)],
  );
  expect(entries).toEqual([{ actor: answer.json.actor, cause: 'the answer was cut off' }]);
  const { rows: audit } = await db.pool.query(
    "SELECT actor, tenant_id FROM audit_log WHERE act = 'operator.refund' AND subject = $1",
    [taskId],
  );
  expect(audit).toEqual([{ actor: answer.json.actor, tenant_id: tenantId }]);
  expect((await verifyLedger(db)).differences).toEqual([]);
});

test('never more than the charge, and nothing of a task that is open or free of charge', async () => {
  const taskId = await endedTask();
  const most = await operator.post(pathOf(taskId), { reason: 'r', amount: '1000.00' });
  expect(most).toMatchObject({ status: 409, json: { error: 'conflict', field: 'amount' } });
  const open = await fixture.post(owner);
  expect((await operator.post(pathOf(open), { reason: 'r' })).status).toBe(409);
  await owner.call('DELETE', `/v1/async/task/${open}`);
  await fixture.attempt(open);
  const free = await operator.post(pathOf(open), { reason: 'r' });
  expect(free).toMatchObject({ status: 409, json: { message: expect.stringMatching(/^Nothing is charged/) } });
});

test('also once its owner can poll it no more; an unknown id is 404, and no key of a tenant may', async () => {
  const taskId = await endedTask();
  fixture.clockMs += DAY_MS + 1_000;
  expect((await owner.get(`/v1/async/task/${taskId}`)).status).toBe(404);
  expect((await operator.post(pathOf(taskId), { reason: 'late' })).status).toBe(200);
  for (const id of ['task_01j7zb8k3te9aabfm0z0e2d3k4', 'nothing'])
    expect((await operator.post(pathOf(id), { reason: 'r' })).status).toBe(404);
  expect((await owner.post(pathOf(taskId), { reason: 'r' })).status).toBe(403);
});

test('two at once with one Idempotency-Key are one refund', async () => {
  const taskId = await endedTask();
  const refund = () => operator.post(pathOf(taskId), { reason: 'twice' }, { 'idempotency-key': `refund-${taskId}` });
  const [one, two] = await Promise.all([refund(), refund()]);
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(one.text).toBe(two.text);
});
