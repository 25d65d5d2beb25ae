import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { countItems, countRetries, sumCosts, sumTokens } from '../../../db/analytics.ts';
import { listTopFailures } from '../../../db/analytics-failures.ts';
import type { AnalyticsFilter } from '../../../db/analytics-filter.ts';
import type { JobRow } from '../../../db/job-rows.ts';
import type { CloseReason } from '../../../domain/close-reason.ts';
import { parseNumeric } from '../../../domain/money.ts';
import { verifyRollups } from '../../../ledger/verify-rollups.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { insertTenant, type TestTenant } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';
import { adjust, closeShard, type PlayedLine, playedJob, refund, SHARD_ITEMS, settleLines } from './played-jobs.ts';
import { GROUPS, RECOMPUTED, RECOMPUTED_COSTS } from './recomputed.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const EVERYTHING: AnalyticsFilter = {
  scope: null,
  isCustomer: false,
  tenantId: null,
  projectId: null,
  customerId: null,
  apiKeyId: null,
  jobKind: null,
  endpoint: null,
  provider: null,
  model: null,
  from: null,
  to: null,
};

const ITEM = fc.integer({ min: 1, max: 2 * SHARD_ITEMS });
const TOKENS = fc.tuple(fc.nat(2_000), fc.nat(500), fc.nat(400), fc.nat(900), fc.nat(300));
const KIND = fc.constantFrom(
  { state: 'completed' as const, code: null },
  { state: 'failed' as const, code: 'provider_server_error' as const },
  { state: 'failed' as const, code: 'safety_blocked' as const },
  { state: 'expired' as const, code: 'batch_expired' as const },
);
const LINE: fc.Arbitrary<PlayedLine> = fc
  .record({
    itemNo: ITEM,
    kind: KIND,
    tokens: TOKENS,
    estimated: fc.boolean(),
    amount: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    customerAmount: fc.option(fc.bigInt({ min: 0n, max: 10n ** 9n })),
  })
  .map(({ kind, ...line }) => ({ ...line, ...kind }));
const JOB = fc.integer({ min: 0, max: 2 });
const SHARD = fc.constantFrom(1, 2);
const STEP = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle'),
      job: JOB,
      shard: SHARD,
      lines: fc.array(LINE, { maxLength: 6 }),
      reversed: fc.boolean(),
      times: fc.constantFrom(1, 2),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('correct'), job: JOB, itemNo: fc.nat(2 * SHARD_ITEMS) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('close'),
      job: JOB,
      shard: SHARD,
      reason: fc.constantFrom<CloseReason>('cancelled', 'batch_expired', 'batch_completed'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end'), job: JOB }) },
);
type Step = typeof STEP extends fc.Arbitrary<infer Value> ? Value : never;

async function play(job: JobRow, step: Step): Promise<void> {
  const { db } = database;
  if ('lines' in step) {
    for (let time = 0; time < step.times; time += 1) {
      await settleLines(db, job, step.shard, step.lines, { reversed: step.reversed !== time > 0 });
    }
  } else if ('itemNo' in step) {
    if (step.itemNo === 0) await adjust(db, job, -7n);
    else await refund(db, job, step.itemNo);
  } else if ('reason' in step) {
    await closeShard(db, job, step.shard, step.reason);
  } else {
    // An adjustment alone moves no money back, which the end of a job would find.
    const { rows } = await db.pool.query(
      `SELECT FROM ledger_entries WHERE subject_id = $1 AND event = 'batch.adjusted'`,
      [job.key.uuid],
    );
    if (rows.length > 0) return;
    const activities = createDatabaseActivities(testDependencies(db));
    for (const shard of [1, 2]) await closeShard(db, job, shard, 'batch_completed');
    await runActivity(activities.reconcileJob, { jobId: job.jobId });
  }
}

/** Rows of both as comparable texts, those that count nothing left out. */
function sorted(rows: readonly object[]): string[] {
  return rows
    .map((row) =>
      Object.entries(row).flatMap(([name, value]) =>
        name === 'group' ? Object.entries(value as object) : [[name, value]],
      ),
    )
    .map((cells) => JSON.stringify(cells.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))))
    .toSorted();
}

async function recomputed(sql: string): Promise<string[]> {
  return sorted((await database.db.pool.query(sql)).rows);
}

async function expectExact(tenants: readonly TestTenant[], jobs: readonly JobRow[]): Promise<void> {
  const { db } = database;
  const { pool } = db;
  expect(sorted(await countItems(pool, EVERYTHING, GROUPS))).toEqual(await recomputed(RECOMPUTED.items));
  expect(sorted(await sumTokens(pool, EVERYTHING, GROUPS))).toEqual(await recomputed(RECOMPUTED.tokens));
  expect(sorted(await countRetries(pool, EVERYTHING, GROUPS))).toEqual(await recomputed(RECOMPUTED.retries));
  expect(sorted(await listTopFailures(pool, EVERYTHING, GROUPS, 100))).toEqual(await recomputed(RECOMPUTED.failures));
  const { rows } = await pool.query(RECOMPUTED_COSTS);
  const [costs, ofCustomers] = [
    await sumCosts(pool, EVERYTHING, ['tenant']),
    await sumCosts(pool, { ...EVERYTHING, isCustomer: true }, ['tenant']),
  ];
  for (const { tenantId } of tenants) {
    const expected = rows.find(({ tenant }) => tenant === tenantId);
    const found = costs.find(({ group }) => group.tenant === tenantId);
    expect(found).toEqual({
      group: { tenant: tenantId },
      currency: 'USD',
      settled: parseNumeric(expected.settled),
      refunded: parseNumeric(expected.refunded),
      adjusted: parseNumeric(expected.adjusted),
      held: parseNumeric(expected.held),
      endedJobs: expected.ended_jobs,
      estimated: parseNumeric(expected.estimated),
      endedSettled: parseNumeric(expected.ended_settled),
    });
    const shown = ofCustomers.find(({ group }) => group.tenant === tenantId);
    expect(shown?.settled).toBe(parseNumeric(expected.customer_settled));
  }
  const differences: unknown[] = [];
  for (const job of jobs) {
    await verifyRollups(db, job.key, (...difference) => {
      if (String(difference[2]) !== String(difference[3])) differences.push(difference);
    });
  }
  expect(differences).toEqual([]);
}

test('every figure is the sum of its rows after any sequence of settlements, corrections, closes and ends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 3, maxLength: 9 }), async (steps) => {
      const tenants = [await insertTenant(database.db), await insertTenant(database.db)] as const;
      const jobs = [
        await playedJob(database.db, tenants[0]),
        await playedJob(database.db, tenants[0], { customerId: 'cust_1', customerEstimated: '0.5' }),
        await playedJob(database.db, tenants[1], { projectId: 'web', customerId: 'cust_1' }),
      ];
      await database.db.pool.query("UPDATE batch_jobs SET overage_policy = 'cap' WHERE tenant_id = $1", [
        tenants[1].tenantId,
      ]);
      for (const step of steps) {
        const job = jobs[step.job];
        if (job !== undefined) await play(job, step);
      }
      await expectExact(tenants, jobs);
    }),
    { numRuns: 12 },
  );
}, 120_000);

test('settlements of a job that meet at once leave exact rollups, a row for each way to end', async () => {
  const tenant = await insertTenant(database.db);
  const job = await playedJob(database.db, tenant);
  const lines = Array.from(
    { length: 2 * SHARD_ITEMS },
    (_, index): PlayedLine => ({
      itemNo: index + 1,
      state: 'completed',
      code: null,
      tokens: [10, 4, 2, 5, 1],
      estimated: false,
      amount: 3n,
      customerAmount: null,
    }),
  );
  await Promise.all([
    settleLines(database.db, job, 1, lines),
    settleLines(database.db, job, 2, lines, { reversed: true }),
  ]);
  const { rows } = await database.db.pool.query(
    `SELECT is_retry, items, input_tokens, cached_input_tokens, amount FROM job_rollups WHERE job_id = $1 ORDER BY is_retry`,
    [job.key.uuid],
  );
  expect(rows).toEqual([
    { is_retry: false, items: 6, input_tokens: '60', cached_input_tokens: '24', amount: '0.000000000018' },
    { is_retry: true, items: 2, input_tokens: '20', cached_input_tokens: '8', amount: '0.000000000006' },
  ]);
  await expectExact([tenant], [job]);
});
