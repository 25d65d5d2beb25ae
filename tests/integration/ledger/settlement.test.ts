import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { getJobRow, type JobRow } from '../../../db/job-rows.ts';
import { clearStage, stageLines } from '../../../db/result-stage.ts';
import { getShard } from '../../../db/shards.ts';
import { itemStateCode } from '../../../domain/item-state.ts';
import { parseNumeric } from '../../../domain/money.ts';
import { createPriceBook, PUBLISHED_PRICES } from '../../../domain/price-book.ts';
import { priceUsage } from '../../../domain/pricing.ts';
import { settleStaged } from '../../../ledger/settle.ts';
import { settleCompleted } from '../../../ledger/settle-completed.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant, type TestTenant } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const price = createPriceBook(PUBLISHED_PRICES).find('openai', 'gpt-4o-mini', new Date());

function staged(itemNo: number, line: number, tokens: { input: number; output: number } | null) {
  if (price === null) throw new Error('the price book knows gpt-4o-mini');
  const usage = {
    inputTokens: tokens?.input ?? 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: tokens?.output ?? 0,
    reasoningTokens: 0,
    estimated: false,
  };
  const completed = tokens !== null;
  return {
    itemNo,
    rank: completed ? 0 : 1,
    file: completed ? 1 : 2,
    line,
    state: itemStateCode(completed ? 'completed' : 'failed'),
    failureClass: completed ? '' : 'provider_error',
    errorCode: completed ? '' : 'provider_server_error',
    usage,
    amount: priceUsage(price, usage, 'batch'),
    model: 'gpt-4o-mini',
    responseHash: null,
    body: completed ? '{"a":"tab\\t and \\\\ line\\n"}' : null,
    errorMessage: completed ? null : 'failed',
    nativeError: null,
  };
}

async function admitted(
  tenant: TestTenant,
  items: number,
  options: Parameters<typeof insertJob>[2] = {},
): Promise<JobRow> {
  const activities = createDatabaseActivities(testDependencies(database.db));
  const draft = await insertJob(database.db, tenant, { items, ...options });
  const verdict = await runActivity(activities.admitJob, { jobId: draft.jobId, submissionNo: 1 });
  expect(verdict).toEqual({ verdict: 'accepted' });
  await runActivity(activities.planShards, { jobId: draft.jobId });
  await runActivity(activities.nextStep, { jobId: draft.jobId, shard: 1 });
  return getJobRow(database.db.pool, draft.jobId);
}

async function attemptNoOf(job: JobRow): Promise<string> {
  const { rows } = await database.db.pool.query('SELECT attempt_no FROM batch_provider_metadata WHERE job_id = $1', [
    job.key.uuid,
  ]);
  return rows[0].attempt_no;
}

async function settleAll(job: JobRow, stagedLines: number): Promise<number> {
  const shard = await getShard(database.db.pool, job.key, 1);
  const range = { job, shard, attempt: 1, firstItemNo: shard.firstItemNo, lastItemNo: shard.lastItemNo };
  return settleStaged(database.db, range, await attemptNoOf(job), stagedLines);
}

async function settleAsRead(job: JobRow, lines: readonly ReturnType<typeof staged>[]): Promise<number> {
  const shard = await getShard(database.db.pool, job.key, 1);
  return settleCompleted(database.db, { job, shard, attempt: 1 }, lines);
}

async function budgetOf(tenant: TestTenant): Promise<{ held: bigint; settled: bigint }> {
  const { rows } = await database.db.pool.query('SELECT held, settled FROM budget_periods WHERE budget_id = $1', [
    tenant.budgetId,
  ]);
  return { held: parseNumeric(rows[0].held), settled: parseNumeric(rows[0].settled) };
}

describe('settlement', () => {
  test('settles each item once whatever is doubled, out of order or replayed, and the money adds up', async () => {
    const lines = fc.array(
      fc.record({
        itemNo: fc.integer({ min: 1, max: 8 }),
        tokens: fc.option(fc.record({ input: fc.nat(5_000), output: fc.nat(5_000) })),
      }),
      { maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 3 }), async (given, replays) => {
        const tenant = await insertTenant(database.db);
        const job = await admitted(tenant, 8);
        const rows = given.map(({ itemNo, tokens }, index) => staged(itemNo, index + 1, tokens));
        const attemptNo = await attemptNoOf(job);
        let settled = 0;
        for (let replay = 0; replay < replays; replay += 1) {
          const completed = rows.filter(({ rank }) => rank === 0);
          const others = rows.filter(({ rank }) => rank !== 0);
          await clearStage(database.db, attemptNo);
          await stageLines(database.db, attemptNo, others);
          const results = await Promise.all([settleAsRead(job, completed), settleAsRead(job, completed)]);
          results.push(...(await Promise.all([settleAll(job, others.length), settleAll(job, others.length)])));
          settled += results.reduce((sum, count) => sum + count, 0);
        }
        expect(settled).toBe(new Set(given.map(({ itemNo }) => itemNo)).size);
        const activities = createDatabaseActivities(testDependencies(database.db));
        await runActivity(activities.closeShard, { jobId: job.jobId, shard: 1, reason: 'batch_completed' as const });
        await runActivity(activities.closeShard, { jobId: job.jobId, shard: 1, reason: 'batch_completed' as const });
        const first = await runActivity(activities.reconcileJob, { jobId: job.jobId });
        const second = await runActivity(activities.reconcileJob, { jobId: job.jobId });
        expect(second).toEqual(first);
        const report = await verifyLedger(database.db, { jobId: job.jobId });
        expect(report.differences).toEqual([]);
        const { held, settled: charged } = await budgetOf(tenant);
        expect(held).toBe(0n);
        const best = new Map<number, bigint>();
        for (const row of rows) if (row.rank === 0 && !best.has(row.itemNo)) best.set(row.itemNo, row.amount);
        expect(charged).toBe([...best.values()].reduce((sum, amount) => sum + amount, 0n));
      }),
      { numRuns: 15 },
    );
    expect((await verifyLedger(database.db, {})).differences).toEqual([]);
  });

  test('a line that completed settles as it is read: first of its item, once, and whatever failed before or after', async () => {
    const tenant = await insertTenant(database.db);
    const job = await admitted(tenant, 3);
    const attemptNo = await attemptNoOf(job);
    const failed = [1, 3].map((itemNo) => staged(itemNo, itemNo, null));
    await stageLines(database.db, attemptNo, failed);
    const lines = [staged(1, 1, { input: 10, output: 20 }), staged(1, 2, { input: 999, output: 999 })];
    expect(await settleAsRead(job, [...lines, staged(99, 3, { input: 1, output: 1 })])).toBe(1);
    expect(await settleAsRead(job, [lines[1] ?? expect.unreachable()])).toBe(0);
    expect(await settleAsRead(job, [])).toBe(0);
    expect(await settleAll(job, failed.length)).toBe(1);
    expect(await settleAsRead(job, [staged(3, 4, { input: 10, output: 10 })])).toBe(0);
    const { rows } = await database.db.pool.query(
      `SELECT o.item_no, o.seq, o.state, o.input_tokens::int, i.state AS item_state, i.settled_amount = o.amount AS same, r.body
       FROM item_outcomes o JOIN batch_items i USING (job_id, item_no) JOIN item_results r USING (job_id, item_no)
       WHERE o.job_id = $1 ORDER BY o.seq`,
      [job.key.uuid],
    );
    const completed = itemStateCode('completed');
    expect(rows).toEqual([
      {
        item_no: 1,
        seq: 1,
        state: completed,
        input_tokens: 10,
        item_state: completed,
        same: true,
        body: lines[0]?.body,
      },
      { ...rows[1], item_no: 3, seq: 2, state: itemStateCode('failed'), body: null },
    ]);
    const { rows: charges } = await database.db.pool.query(
      `SELECT item_no FROM ledger_entries WHERE subject_id = $1 AND event = 'batch.item.settled'`,
      [job.key.uuid],
    );
    expect(charges).toEqual([{ item_no: 1 }]);
  });

  test('settles nothing of a stage that was emptied or added to meanwhile', async () => {
    const tenant = await insertTenant(database.db);
    const job = await admitted(tenant, 3);
    const attemptNo = await attemptNoOf(job);
    const rows = [1, 2].map((itemNo) => staged(itemNo, itemNo, { input: 10, output: 10 }));
    await stageLines(database.db, attemptNo, rows);
    await expect(settleAll(job, 3)).rejects.toThrow('read again');
    await expect(settleAll(job, 1)).rejects.toThrow('read again');
    await clearStage(database.db, attemptNo);
    await expect(settleAll(job, 2)).rejects.toThrow('read again');
    expect((await verifyLedger(database.db, { jobId: job.jobId })).items).toBe(0);
    await stageLines(database.db, attemptNo, rows);
    expect(await settleAll(job, 2)).toBe(2);
  });

  test('B-06: a job that no longer fits is refused at once, and what is committed shows in the budget', async () => {
    const tenant = await insertTenant(database.db, { limit: '0.008' });
    const activities = createDatabaseActivities(testDependencies(database.db));
    const jobs = await Promise.all(
      [1, 2, 3].map(() => insertJob(database.db, tenant, { items: 10, outputTokens: 1_000 })),
    );
    const verdicts = await Promise.all(
      jobs.map(({ jobId }) => runActivity(activities.admitJob, { jobId, submissionNo: 1 })),
    );
    expect(verdicts.map(({ verdict }) => verdict).sort()).toEqual(['accepted', 'accepted', 'refused']);
    const { held } = await budgetOf(tenant);
    expect(held).toBeLessThanOrEqual(8n * 10n ** 9n);
    expect(held).toBeGreaterThan(0n);
  });

  test('overage is written down and the budget goes below zero by it', async () => {
    const tenant = await insertTenant(database.db);
    const job = await admitted(tenant, 1, { outputTokens: 1 });
    const attemptNo = await attemptNoOf(job);
    await stageLines(database.db, attemptNo, [staged(1, 1, { input: 1_000, output: 50_000 })]);
    await settleAll(job, 1);
    const activities = createDatabaseActivities(testDependencies(database.db));
    await runActivity(activities.closeShard, { jobId: job.jobId, shard: 1, reason: 'batch_completed' as const });
    await runActivity(activities.reconcileJob, { jobId: job.jobId });
    const { rows } = await database.db.pool.query(
      `SELECT event, amount FROM ledger_entries WHERE subject_id = $1 AND event IN ('batch.overage', 'batch.released')`,
      [job.key.uuid],
    );
    expect(rows.map(({ event }) => event)).toEqual(['batch.overage']);
    expect((await verifyLedger(database.db, { jobId: job.jobId })).differences).toEqual([]);
  });

  test('the ledger refuses updates and deletes', async () => {
    const tenant = await insertTenant(database.db);
    const job = await admitted(tenant, 1);
    const change = database.db.pool.query('UPDATE ledger_entries SET amount = 0 WHERE subject_id = $1', [job.key.uuid]);
    await expect(change).rejects.toThrow('append-only');
    await expect(
      database.db.pool.query('DELETE FROM ledger_entries WHERE subject_id = $1', [job.key.uuid]),
    ).rejects.toThrow('append-only');
  });

  test('verify names a charge that was changed behind its back', async () => {
    const tenant = await insertTenant(database.db);
    const job = await admitted(tenant, 2);
    await stageLines(database.db, await attemptNoOf(job), [staged(1, 1, { input: 10, output: 10 })]);
    await settleAll(job, 1);
    await database.db.pool.query(
      'UPDATE batch_items SET settled_amount = settled_amount + 1 WHERE job_id = $1 AND item_no = 1',
      [job.key.uuid],
    );
    const { differences } = await verifyLedger(database.db, { jobId: job.jobId });
    expect(differences.map(({ check }) => check)).toEqual(['settled amount against item rows']);
  });
});
