import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { FailureCode } from '../../../domain/failure.ts';
import { lawHolds } from '../../../domain/ledger-entry.ts';
import { parseNumeric } from '../../../domain/money.ts';
import { verifyLedger } from '../../../ledger/verify.ts';
import { fixedAdapters } from '../../../providers/provider-adapters.ts';
import { ProviderError, type ProviderErrorCode } from '../../../providers/provider-error.ts';
import { FakeProvider } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { type TaskCaller, TestTasks } from '../../harness/task-attempts.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const which = fc.nat(9);
const errors = fc.constantFrom<ProviderErrorCode[]>('rate_limited', 'timed_out', 'credential_refused', 'rejected');
const billed = fc.constantFrom<FailureCode[]>('safety_blocked', 'malformed_result');
/** What one attempt of a task comes to. Tokens reach far beyond what is held for one. */
const outcome = fc.oneof(
  fc.record({ kind: fc.constant('answer' as const), input: fc.nat(2_000), output: fc.nat(200) }),
  fc.record({ kind: fc.constant('billed' as const), code: billed, input: fc.nat(2_000), output: fc.nat(200) }),
  fc.record({ kind: fc.constant('error' as const), code: errors }),
  fc.record({ kind: fc.constant('fault' as const) }),
);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('create' as const), maxTokens: fc.integer({ min: 1, max: 100 }) }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('attempt' as const), which, outcome, twice: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which, byTemporal: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 60 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Outcome = Extract<Step, { kind: 'attempt' }>['outcome'];

class World {
  readonly tasks: TestTasks;
  readonly tenant: TaskCaller;
  readonly ids: string[] = [];
  readonly #provider: FakeProvider;

  constructor(tasks: TestTasks, tenant: TaskCaller, provider: FakeProvider) {
    this.tasks = tasks;
    this.tenant = tenant;
    this.#provider = provider;
  }

  async make(made: Step): Promise<void> {
    const taskId = 'which' in made ? this.ids[made.which % Math.max(1, this.ids.length)] : undefined;
    if (made.kind === 'create') this.ids.push(await this.tasks.create(this.tenant, { maxTokens: made.maxTokens }));
    if (made.kind === 'wait') this.tasks.advance(made.seconds * 1_000);
    if (taskId === undefined) return;
    if (made.kind === 'attempt') {
      this.#provider.onComplete = () => answerWith(made.outcome);
      const attempt = () => this.tasks.attempt(taskId).catch(() => undefined);
      await Promise.all(made.twice ? [attempt(), attempt()] : [attempt()]);
    }
    if (made.kind === 'cancel' && made.byTemporal) await this.tasks.attempt(taskId, { cancel: true });
    if (made.kind === 'cancel' && !made.byTemporal) await this.tenant.caller.call('DELETE', `/v1/async/task/${taskId}`);
  }

  async check(): Promise<void> {
    const all = await Promise.all(this.ids.map((taskId) => this.tasks.money(taskId)));
    for (const { reserved, settled, released, held } of all) {
      const overage = settled > reserved ? settled - reserved : 0n;
      expect(lawHolds({ reserved, overage, settled, released, held })).toBe(true);
    }
    const { rows } = await db.pool.query(
      'SELECT coalesce(sum(held), 0) AS held, coalesce(sum(settled), 0) AS settled FROM budget_periods p JOIN budgets b USING (budget_id) WHERE tenant_id = $1',
      [this.tenant.tenantId],
    );
    expect(parseNumeric(rows[0].held)).toBe(all.reduce((sum, { held }) => sum + held, 0n));
    expect(parseNumeric(rows[0].settled)).toBe(all.reduce((sum, { settled }) => sum + settled, 0n));
    const states = await Promise.all(this.ids.map(async (taskId) => (await this.tasks.row(taskId)).state));
    const open = states.filter((state) => state === 'QUEUED' || state === 'PROCESSING').length;
    expect(await this.tasks.openSlots(this.tenant)).toBe(open);
  }
}

async function answerWith(outcome: Outcome) {
  if (outcome.kind === 'fault') throw new Error('a fault of the gateway');
  if (outcome.kind === 'error')
    throw new ProviderError({ code: outcome.code, message: 'no', isRetryable: true, mayHaveActed: false });
  const usage = { inputTokens: outcome.input, outputTokens: outcome.output };
  if (outcome.kind === 'answer') return { kind: 'completed', body: '{}', usage, model: null } as const;
  const native = { nativeType: null, nativeCode: null, statusCode: null };
  return { kind: 'failed', class: 'provider_error', code: outcome.code, message: 'no', usage, ...native } as const;
}

test('whatever comes of its attempts, what is reserved for a task and its overage are what is settled, released and held', {
  timeout: 240_000,
}, async () => {
  const steps = fc.array(step, { minLength: 15, maxLength: 25, size: 'max' });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('charge', 'cap'), steps, async (policy, made) => {
      const provider = new FakeProvider();
      const tasks = new TestTasks(db, { providers: fixedAdapters(new Map([['openai', provider]])) });
      const tenant = await tasks.caller();
      await db.pool.query('UPDATE tenants SET overage_policy = $2 WHERE tenant_id = $1', [tenant.tenantId, policy]);
      const world = new World(tasks, tenant, provider);
      await world.make({ kind: 'create', maxTokens: 20 });
      for (const each of made) {
        await world.make(each);
        await world.check();
      }
      provider.onComplete = () => answerWith({ kind: 'answer', input: 10, output: 5 });
      tasks.advance(60_000);
      for (const taskId of world.ids) await tasks.untilOver(taskId);
      await world.check();
      expect(await tasks.openSlots(tenant)).toBe(0);
    }),
    { numRuns: 4 },
  );
  expect((await verifyLedger(db)).differences).toEqual([]);
});
