import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import { insertBudget, listBudgets, setBudget } from '../../../db/budgets.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { parseAmount } from '../../../domain/money.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { type ApiCaller, chatItem, createTestApi } from '../../harness/api.ts';
import { type ModelBudget, type ModelJob, MoneyModel } from '../../harness/money-model.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { chargeOf, replyLine, runningJobs } from '../../harness/running-jobs.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
/** The first days of months in New York, noon. */
const MONTHS = ['2026-12-01', '2027-01-01', '2027-02-01', '2027-03-01'];

/** One tenant with four budgets, and the same in the model. */
class World {
  readonly tenantId: string;
  readonly caller: ApiCaller;
  readonly model: MoneyModel;
  readonly #budgetIds: readonly string[];
  #month = 0;

  constructor(tenantId: string, caller: ApiCaller, budgets: readonly ModelBudget[], budgetIds: readonly string[]) {
    this.tenantId = tenantId;
    this.caller = caller;
    this.model = new MoneyModel(budgets);
    this.#budgetIds = budgetIds;
  }

  get month(): string {
    return MONTHS[this.#month] ?? '';
  }

  now = () => new Date(`${this.month}T17:00:00Z`);

  rollOver(): void {
    this.#month = Math.min(this.#month + 1, MONTHS.length - 1);
  }

  get running() {
    return runningJobs(db, { now: this.now });
  }

  jobsIn(state: ModelJob['state']): ModelJob[] {
    return this.model.jobs.filter((job) => job.state === state);
  }

  async create(items: number, whose: { ofProject: boolean; ofCustomer: boolean }): Promise<void> {
    const owner = { ...(whose.ofProject && { project_id: 'p' }), ...(whose.ofCustomer && { customer_id: 'c' }) };
    const jobId = await this.caller.draft(items, owner);
    const fresh = { state: 'draft' as const, month: '', reserved: 0n, charges: new Map() };
    this.model.jobs.push({ jobId, items, ...whose, ...fresh });
  }

  async append(job: ModelJob): Promise<void> {
    const items = [chatItem(`row_${job.items + 1}`), chatItem('row_1')];
    const { status } = await this.caller.post(`/v1/batch-jobs/${job.jobId}/items`, { items });
    expect(status).toBe(job.state === 'draft' ? 200 : 409);
    if (job.state === 'draft') job.items += 1;
  }

  /** All at once. Money only grows meanwhile: whoever was accepted fits, and whoever was refused does not fit in the end. */
  async submit(jobs: readonly ModelJob[]): Promise<void> {
    const holds = new Map<ModelJob, bigint>();
    for (const job of jobs) {
      const { quote } = (await this.caller.get(`/v1/batch-jobs/${job.jobId}/quote`)).json;
      holds.set(job, parseAmount(quote.reserved));
    }
    const answers = await Promise.all(jobs.map(({ jobId }) => this.caller.post(`/v1/batch-jobs/${jobId}/submit`)));
    const accepted = jobs.filter((_, index) => answers[index]?.status === 202);
    for (const job of accepted) {
      const reserved = holds.get(job) ?? 0n;
      expect(this.model.fits(job, reserved, this.month)).toBe(true);
      Object.assign(job, { state: 'running', month: this.month, reserved });
      await this.running.start(job.jobId);
    }
    for (const [index, job] of jobs.entries()) {
      if (accepted.includes(job)) continue;
      expect(answers[index]).toMatchObject({ status: 402, json: { error: 'budget_exceeded' } });
      expect(this.model.fits(job, holds.get(job) ?? 0n, this.month)).toBe(false);
    }
  }

  async settle(job: ModelJob, outputs: readonly number[], workers: number): Promise<void> {
    const tokens = (itemNo: number) => ({ input: 10, output: outputs[itemNo % outputs.length] ?? 0 });
    const itemNos = outputs.map((output) => 1 + (output % job.items));
    const lines = itemNos.map((itemNo, index) => replyLine(itemNo, index + 1, tokens(itemNo)));
    const fresh = new Set(itemNos.filter((itemNo) => !job.charges.has(itemNo)));
    expect(await this.running.settle(job.jobId, lines, workers)).toBe(fresh.size);
    expect(await this.running.settle(job.jobId, lines.toReversed(), workers)).toBe(0);
    for (const itemNo of fresh) job.charges.set(itemNo, chargeOf(tokens(itemNo)));
  }

  async finish(job: ModelJob, reason: 'batch_completed' | 'batch_expired' | 'batch_cancelled'): Promise<void> {
    const { recordCancel } = createDatabaseActivities(testDependencies(db, { now: this.now }));
    const cancel = { jobId: job.jobId, by: 'signal', reason: null };
    if (reason === 'batch_cancelled') await runActivity(recordCancel, cancel);
    await this.running.finish(job.jobId, reason);
    await this.running.finish(job.jobId, reason);
    job.state = 'ended';
  }

  async setLimit(index: number, limit: bigint): Promise<void> {
    const budget = this.model.budgets[index];
    if (budget === undefined) return;
    const key = { ...this.keyOf(budget), tenantId: this.tenantId };
    await inTransaction(db, (client) => setBudget(client, key, { limit, alertPercents: null }));
    budget.limit = limit;
  }

  keyOf({ scope, period }: ModelBudget) {
    return { scope, period, scopeId: { tenant: this.tenantId, project: 'p', customer: 'c' }[scope] };
  }

  async check(): Promise<void> {
    this.model.noteAlerts();
    const index = new Map(this.#budgetIds.map((budgetId, at) => [budgetId, at]));
    const stored = await db.pool.query(
      `SELECT budget_id, to_char(period_start, 'YYYY-MM-DD') AS start, held, settled FROM budget_periods WHERE budget_id = ANY($1)`,
      [this.#budgetIds],
    );
    const rows = stored.rows.map((row) => `${index.get(row.budget_id)}/${row.start} ${row.held} ${row.settled}`);
    expect(rows.sort()).toEqual(this.model.rows());
    const whole = { tenantId: this.tenantId, projectId: null, customerId: null };
    for (const budget of await listBudgets(db.pool, whole, this.now())) {
      const at = index.get(budget.budgetId) ?? -1;
      const key = `${at}/${budget.periodStart ?? '1970-01-01'}`;
      const { held, settled } = this.model.accounts().get(key) ?? { held: 0n, settled: 0n };
      const limit = this.model.budgets[at]?.limit ?? 0n;
      expect(budget).toMatchObject({ held, settled, limit, available: limit - held - settled });
      const reached = [80, 100].filter((percent) => this.model.alerts.has(`${key}/${percent}`));
      expect(budget.alerts.map(({ percent }) => percent)).toEqual(reached);
    }
    const told = await db.pool.query("SELECT 1 FROM events WHERE tenant_id = $1 AND type = 'budget.alert'", [
      this.tenantId,
    ]);
    expect(told.rowCount).toBe(this.model.alerts.size);
    for (const { jobId, state } of this.model.jobs) {
      if (state !== 'draft') expect((await verifyLedger(db, { jobId })).differences).toEqual([]);
    }
  }
}

const BUDGETS = [
  { scope: 'tenant', period: 'total' },
  { scope: 'tenant', period: 'month' },
  { scope: 'project', period: 'month' },
  { scope: 'customer', period: 'total' },
] as const;

async function newWorld(limits: readonly bigint[]): Promise<World> {
  const tenantId = await api.tenant(null);
  const caller = await api.caller('tenant_admin', { tenantId });
  await db.pool.query("UPDATE tenants SET time_zone = 'America/New_York' WHERE tenant_id = $1", [tenantId]);
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'p', 'P')", [tenantId]);
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'c', 'C')", [tenantId]);
  const budgets = BUDGETS.map((budget, index) => ({ ...budget, limit: limits[index] ?? 0n }));
  const ids: string[] = [];
  for (const { scope, period, limit } of budgets) {
    const scopeId = { tenant: tenantId, project: 'p', customer: 'c' }[scope];
    ids.push((await insertBudget(db.pool, { tenantId, scope, scopeId, period, limit })) ?? '');
  }
  const world = new World(tenantId, caller, budgets, ids);
  api.workflows.submit = async ({ jobId, submissionNo }) => {
    const { admitJob } = createDatabaseActivities(testDependencies(db, { now: world.now }));
    return { kind: 'verdict', verdict: (await admitJob({ jobId, submissionNo })).verdict };
  };
  return world;
}

/** About what one item of `chatItem` holds; limits are some of these. */
const UNIT = 8_000_000n;
const limit = fc.integer({ min: 4, max: 40 }).map((units) => BigInt(units) * UNIT);
const which = fc.nat(9);
const reason = fc.constantFrom('batch_completed' as const, 'batch_expired' as const, 'batch_cancelled' as const);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      items: fc.integer({ min: 1, max: 4 }),
      ofProject: fc.boolean(),
      ofCustomer: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('append' as const), which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('submit' as const), which, together: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which,
      outputs: fc.array(fc.nat(60), { minLength: 1, maxLength: 5 }),
      workers: fc.constantFrom(1, 2),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('finish' as const), which, reason }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollOver' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('setLimit' as const), which, limit }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function make(world: World, made: Step): Promise<void> {
  const pick = (jobs: readonly ModelJob[], at: number) => jobs[at % Math.max(1, jobs.length)];
  switch (made.kind) {
    case 'create':
      return world.create(made.items, made);
    case 'append': {
      const job = pick(world.model.jobs, made.which);
      return job && world.append(job);
    }
    case 'submit': {
      const drafts = world.jobsIn('draft');
      const job = pick(drafts, made.which);
      return job && world.submit(made.together ? drafts : [job]);
    }
    case 'settle': {
      const job = pick(world.jobsIn('running'), made.which);
      return job && world.settle(job, made.outputs, made.workers);
    }
    case 'finish': {
      const job = pick(world.jobsIn('running'), made.which);
      return job && world.finish(job, made.reason);
    }
    case 'rollOver':
      return world.rollOver();
    case 'setLimit':
      return world.setLimit(made.which % BUDGETS.length, made.limit);
  }
}

test('whatever is submitted, appended, settled, cancelled and rolled over in whatever order, every account is what the jobs say', {
  timeout: 240_000,
}, async () => {
  const limits = fc.tuple(limit, limit, limit, limit);
  const steps = fc.array(step, { minLength: 25, maxLength: 40, size: 'max' });
  await fc.assert(
    fc.asyncProperty(limits, steps, async (given, made) => {
      const world = await newWorld(given);
      for (const at of [0, 1, 2, 3]) await world.create(2, { ofProject: at % 2 === 0, ofCustomer: at > 1 });
      for (const each of made) {
        await make(world, each);
        await world.check();
      }
      for (const job of world.jobsIn('running')) await world.finish(job, 'batch_completed');
      await world.check();
      expect([...world.model.accounts().values()].filter(({ held }) => held !== 0n)).toEqual([]);
    }),
    { numRuns: 6 },
  );
  expect((await verifyLedger(db)).differences).toEqual([]);
});
