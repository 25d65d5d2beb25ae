import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPriceBook, PUBLISHED_PRICES } from '../../../domain/price-book.ts';
import { priceUsage } from '../../../domain/pricing.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task.ts';
import { ZERO_USAGE } from '../../../domain/usage.ts';
import { createAdapterMakers } from '../../../providers/registry.ts';
import { createProviderAdapters } from '../../../providers/stored-credentials.ts';
import { type Control, createControl } from '../../../simulators/control-client.ts';
import { type Simulators, startSimulators } from '../../../simulators/start.ts';
import { TEST_FACTS } from '../../harness/activities.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { type TaskCaller, TestTasks } from '../../harness/task-attempts.ts';

const { db, drop } = await createTestDatabase();
const MODELS = { OPENAI: 'gpt-4o-mini', ANTHROPIC: 'claude-haiku-4-5', GEMINI: 'gemini-2.5-flash' } as const;

let simulators: Simulators;
let control: Control;
let tasks: TestTasks;
let tenant: TaskCaller;
beforeAll(async () => {
  simulators = await startSimulators();
  control = createControl(simulators.controlUrl);
  const makers = createAdapterMakers({
    openai: { apiKey: 'sim-key', baseUrl: simulators.openaiUrl },
    anthropic: { apiKey: 'sim-key', baseUrl: simulators.anthropicUrl, apiVersion: TEST_FACTS.anthropicApiVersion },
    gemini: { apiKey: 'sim-key', baseUrl: simulators.geminiUrl },
    ...{ compatible: [], requestTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
  });
  const noneStored = { read: async () => null, open: async (sealed: Uint8Array) => sealed };
  tasks = new TestTasks(db, { providers: createProviderAdapters(makers, noneStored) });
  tenant = await tasks.caller();
});
afterAll(async () => {
  await simulators.close();
  await drop();
});

function create(taskType: TaskType, prompt: string): Promise<string> {
  return tasks.create(tenant, { taskType, model: MODELS[taskType], prompt });
}

const show = async (taskId: string) => (await tenant.caller.get(`/v1/async/task/${taskId}`)).json;

test.each(TASK_TYPES)(
  '%s: an answer is shown in one shape, and charged at the standard price by its own usage',
  async (taskType) => {
    const taskId = await create(taskType, '[[sim:text=forty-two]][[sim:usage=1000,90]]');
    expect(await tasks.untilOver(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
    expect(await show(taskId)).toMatchObject({
      ...{ id: taskId, taskType, status: 'COMPLETED', attempts: 1, error: null },
      response: {
        text: 'forty-two',
        finishReason: 'stop',
        usage: { inputTokens: 1_000, outputTokens: 90, estimated: false },
      },
    });
    const provider = taskType.toLowerCase();
    const price = createPriceBook(PUBLISHED_PRICES).find(provider, MODELS[taskType], new Date());
    if (price === null) throw new Error(`no price for ${MODELS[taskType]}`);
    const charge = priceUsage(price, { ...ZERO_USAGE, inputTokens: 1_000, outputTokens: 90 }, 'standard');
    expect(await tasks.money(taskId)).toMatchObject({ state: 'completed', settled: charge, held: 0n });
  },
);

test.each(
  TASK_TYPES.flatMap((taskType) =>
    (
      [
        ['[[sim:error=server_error]]', 'PROVIDER_SERVER_ERROR'],
        ['[[sim:error=rate_limit]]', 'RATE_LIMITED'],
      ] as const
    ).map(([mark, code]) => [taskType, mark, code] as const),
  ),
)('%s: %s passes by itself, or ends as %s when it does not', async (taskType, mark, code) => {
  const once = await create(taskType, `${mark}[[sim:once]] ${taskType}`);
  expect(await tasks.untilOver(once)).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect((await tasks.history(once)).slice(2)).toEqual([`QUEUED 1 ${code}`, 'PROCESSING 2', 'COMPLETED 2']);
  const always = await create(taskType, mark);
  expect(await tasks.untilOver(always)).toEqual({ kind: 'over', state: 'FAILED' });
  expect(await show(always)).toMatchObject({ status: 'FAILED', attempts: 3, response: null, error: { code } });
  expect(await tasks.money(always)).toMatchObject({ state: 'failed', settled: 0n, held: 0n });
});

test.each(
  TASK_TYPES.flatMap((taskType) =>
    (
      [
        ['[[sim:invalid]]', 'INVALID_REQUEST'],
        ['[[sim:safety]]', 'SAFETY_BLOCKED'],
        ['[[sim:error=unauthorized]]', 'PROVIDER_CREDENTIAL_REJECTED'],
      ] as const
    ).map(([mark, code]) => [taskType, mark, code] as const),
  ),
)('%s: %s ends at once as %s', async (taskType, mark, code) => {
  const taskId = await create(taskType, mark);
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'FAILED' });
  expect(await show(taskId)).toMatchObject({ status: 'FAILED', attempts: 1, error: { code } });
  expect((await tasks.money(taskId)).held).toBe(0n);
});

test("the provider's Retry-After is the wait", async () => {
  await control.faults({
    provider: 'openai',
    route: 'chat.completions.create',
    action: { status: 429, headers: { 'retry-after': '120' } },
  });
  const taskId = await create('OPENAI', 'hello');
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'again', delayMs: 132_000 });
  tasks.advance(132_000);
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
});

test('a connection that is dropped is tried again', async () => {
  await control.faults({ provider: 'openai', route: 'chat.completions.create', action: { drop_after: true } });
  const taskId = await create('OPENAI', 'hello');
  expect(await tasks.untilOver(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect((await tasks.history(taskId))[2]).toBe('QUEUED 1 PROVIDER_UNREACHABLE');
});

test('usage that is missing is charged as it was estimated, and said to be', async () => {
  const taskId = await create('OPENAI', '[[sim:usage=none]]');
  expect(await tasks.untilOver(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
  expect((await show(taskId)).response.usage).toMatchObject({ estimated: true, outputTokens: 20 });
  expect((await tasks.money(taskId)).settled).toBeGreaterThan(0n);
});

test('what is refused for its content is charged where the provider counted it', async () => {
  const taskId = await create('OPENAI', '[[sim:safety]][[sim:usage=1000,10]]');
  expect(await tasks.untilOver(taskId)).toEqual({ kind: 'over', state: 'FAILED' });
  expect((await tasks.money(taskId)).settled).toBe(1_000n * 150_000n + 10n * 600_000n);
});
