import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../db/client.ts';
import { toUuid } from '../../../db/ids.ts';
import { type LedgerReport, verifyLedger } from '../../../ledger/verify.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { TaskFixture } from '../tasks/task-fixture.ts';

const { db, drop } = await createTestDatabase();
const fixture = new TaskFixture(db);
const taskIds: string[] = [];
beforeAll(async () => {
  const caller = await fixture.api.caller('tenant_admin', { tenantId: await fixture.api.tenant('1000') });
  for (let task = 0; task < 4; task += 1) taskIds.push(await fixture.post(caller));
  for (const taskId of taskIds.slice(0, 3)) await fixture.attempt(taskId);
});
afterAll(drop);

/** With how many statements it took. */
async function verifyAll(): Promise<LedgerReport & { readonly statements: number }> {
  let statements = 0;
  const counted = new Proxy(db.pool, {
    get: (pool, member) => {
      if (member === 'query') statements += 1;
      const value: unknown = Reflect.get(pool, member, pool);
      return typeof value === 'function' ? value.bind(pool) : value;
    },
  });
  const report = await verifyLedger({ ...db, pool: counted } as Database);
  return { ...report, statements };
}

test('tasks that add up are verified together, by as many statements as one', async () => {
  const report = await verifyAll();
  expect(report).toMatchObject({ jobs: 4, items: 3, differences: [] });
  const caller = await fixture.api.caller('tenant_admin', { tenantId: await fixture.api.tenant('1000') });
  for (let task = 0; task < 10; task += 1) await fixture.attempt(await fixture.post(caller));
  expect(await verifyAll()).toEqual({ ...report, jobs: 14, items: 13 });
});

/** Each with what undoes it. */
test.each([
  ['item_outcomes', 'amount = amount * 2', 'amount = amount / 2'],
  ['item_outcomes', 'output_tokens = output_tokens + 1', 'output_tokens = output_tokens - 1'],
  ['batch_items', 'settled_amount = settled_amount + 1', 'settled_amount = settled_amount - 1'],
  ['batch_items', 'refunded_amount = 0.000001', 'refunded_amount = 0'],
  ['ledger_entries', 'amount = amount + 1', 'amount = amount - 1'],
  ['job_progress', 'settled_amount = settled_amount + 1', 'settled_amount = settled_amount - 1'],
  ['job_progress', 'completed = completed + 1', 'completed = completed - 1'],
  ['job_rollups', 'items = items + 1', 'items = items - 1'],
  ['job_rollups', 'is_retry = true', 'is_retry = false'],
  ['job_rollups', 'refunded_amount = 1', 'refunded_amount = 0'],
  ['job_estimates', 'estimated_amount = estimated_amount + 1', 'estimated_amount = estimated_amount - 1'],
  ['batch_jobs', 'settled_amount = settled_amount + 1', 'settled_amount = settled_amount - 1'],
])(
  'what was altered in %s (%s) is found among the others, and named as when its task alone is verified',
  async (table, change, undo) => {
    const [, altered = ''] = taskIds;
    await alter(table, change, altered);
    const alone = await verifyLedger(db, { jobId: altered });
    const all = await verifyLedger(db);
    await alter(table, undo, altered);
    expect(alone.differences.length).toBeGreaterThan(0);
    const inOrder = (found: LedgerReport['differences']) => found.map((each) => JSON.stringify(each)).toSorted();
    const ofTasks = all.differences.filter(({ subject }) => subject.startsWith('task_'));
    expect(inOrder(ofTasks)).toEqual(inOrder(alone.differences));
    expect((await verifyLedger(db)).differences).toEqual([]);
  },
);

/** Past the triggers that keep what is append-only. */
async function alter(table: string, change: string, taskId: string): Promise<void> {
  const column = table === 'ledger_entries' ? 'subject_id' : 'job_id';
  const client = await db.pool.connect();
  try {
    await client.query("SET session_replication_role = 'replica'");
    await client.query(`UPDATE ${table} SET ${change} WHERE ${column} = $1`, [toUuid('task', taskId)]);
    await client.query("SET session_replication_role = 'origin'");
  } finally {
    client.release();
  }
}
