import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANTHROPIC, atEach, type ChatTarget, GEMINI, OPENAI } from '../../harness/chat-targets.ts';
import { type Caller, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitAnswered } from '../../harness/sound-end.ts';

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

/** Micro-dollars are hundreds of tokens times dollars per million: 200 in, 800 cached, 100 out. */
const COST_OF_CACHED = new Map<ChatTarget, string>([
  [OPENAI, '0.000075'], // 200 × 0.075 + 800 × 0.0375 + 100 × 0.3
  [ANTHROPIC, '0.00117'], // 200 × 1.5 + 800 × 0.15 + 100 × 7.5
  [GEMINI, '0.000179'], // 200 × 0.15 + 800 × 0.03 + 100 × 1.25
]);

test('M-06: the same truth in the conventions of all three is the same usage, each at its own batch prices', async () => {
  await atEach([OPENAI, ANTHROPIC, GEMINI], async (target) => {
    const jobId = await caller.submitPrompts(prompts(2, '[[sim:usage=1000,800,100]]'), { model: target.model });
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    const cost = COST_OF_CACHED.get(target) ?? '';
    for (const row of rows) {
      expect(row.cost).toBe(cost);
      expect(row.usage).toEqual({
        input_tokens: 1000,
        cached_input_tokens: 800,
        cache_write_tokens: 0,
        output_tokens: 100,
        reasoning_tokens: 0,
        estimated: false,
      });
    }
    expect(Number(job.cost.settled)).toBeCloseTo(2 * Number(cost), 12);
    expect(rows[0]?.result).toMatchObject({
      usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 800 } },
    });
  });
});

test('M-06: thinking is output once, whether the provider counts it in or apart', async () => {
  await atEach([OPENAI, ANTHROPIC, GEMINI], async ({ model, costOf1000And100: cost }) => {
    const jobId = await caller.submitPrompts(prompts(1, '[[sim:usage=1000,100]][[sim:reasoning=60]]'), { model });
    const { rows } = await soundEnd(gateway, caller, jobId);
    expect(rows[0]).toMatchObject({ cost, usage: { output_tokens: 100, reasoning_tokens: 60, estimated: false } });
  });
});

const base = { output_tokens: 100, cache_read_input_tokens: 800 };

test('M-06: what Anthropic writes to its cache is charged by how long it is kept', async () => {
  const usages = [
    // 100 × 1.5 + 800 × 0.15 + 100 × 1.875 + 100 × 7.5
    { input_tokens: 100, ...base, cache_creation_input_tokens: 100, cache_creation: null },
    {
      input_tokens: 100,
      ...base,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 0 },
    },
    // 100 × 3 for the same hundred
    {
      input_tokens: 100,
      ...base,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 100 },
    },
    // 60 × 1.875 + 40 × 3
    {
      input_tokens: 100,
      ...base,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
    },
    // All of a prompt of 1000 written, for an hour: 1000 × 3 + 100 × 7.5
    {
      input_tokens: 0,
      output_tokens: 100,
      cache_creation_input_tokens: 1000,
      cache_creation: { ephemeral_1h_input_tokens: 1000 },
    },
  ];
  const jobId = await submitAnswered(
    gateway,
    caller,
    usages.length,
    (id) => usages.map((usage, index) => ANTHROPIC.answered(id(index + 1), { usage })),
    ANTHROPIC,
  );
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.cost)).toEqual(['0.0012075', '0.0012075', '0.00132', '0.0012525', '0.00375']);
  expect(rows.every((row) => row.usage?.['estimated'] === false)).toBe(true);
  expect(rows.map((row) => row.usage?.['cache_write_tokens'])).toEqual([100, 100, 100, 100, 1000]);
});

test('M-06: a cache mark in a request of one’s own decides the price of what it writes', async () => {
  const text = 'Read this. [[sim:usage=1000,800,100]][[sim:cache_write=100]]';
  const request = (ttl?: string) => ({
    max_tokens: 200,
    messages: [
      { role: 'user', content: [{ type: 'text', text, cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } }] },
    ],
  });
  const jobId = await caller.createJob({ endpoint: 'messages', model: ANTHROPIC.model });
  await caller.append(jobId, [
    { custom_id: 'row_1', request: request() },
    { custom_id: 'row_2', request: request('5m') },
    { custom_id: 'row_3', request: request('1h') },
  ]);
  await caller.submit(jobId);
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.cost)).toEqual(['0.0012075', '0.0012075', '0.00132']);
  expect(rows[2]?.result).toMatchObject({
    type: 'message',
    usage: { cache_creation: { ephemeral_1h_input_tokens: 100 } },
  });
});

test('M-04: no usage, or one of an unknown shape, is charged by the estimate and marked, never free', async () => {
  const { caller: own } = await gateway.newTenant();
  await atEach([ANTHROPIC, GEMINI], async ({ model }) => {
    const jobId = await own.submitPrompts([...prompts(1, '[[sim:usage=none]]'), '[[sim:usage=alien]]'], { model });
    const { rows } = await soundEnd(gateway, own, jobId);
    for (const row of rows) {
      expect(row).toMatchObject({ status: 'completed', usage: { estimated: true, output_tokens: 200 } });
      expect(Number(row.cost)).toBeGreaterThan(0.000_2);
    }
  });
  const { data } = await own.call<{ data: { usage_estimated_items: number }[] }>('GET', '/v1/usage?group_by=tenant');
  expect(data[0]?.usage_estimated_items).toBe(4);
});

const ALIEN = [undefined, null, 'plenty', {}, [1000, 100], { units_read: 12 }];

const SHAPES: readonly { target: ChatTarget; known: readonly unknown[]; unknown: readonly unknown[] }[] = [
  {
    target: ANTHROPIC,
    known: [
      { input_tokens: 1000, output_tokens: 100 },
      { input_tokens: '1000', output_tokens: '100' },
      { input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: null, cache_creation: null },
      { input_tokens: 1000, output_tokens: 100, output_tokens_details: { thinking_tokens: 60 } },
      { input_tokens: 1000, output_tokens: 100, service_tier: 'batch', server_tool_use: null },
    ],
    unknown: [
      ...ALIEN,
      { prompt_tokens: 1000, completion_tokens: 100 },
      { promptTokenCount: 1000, candidatesTokenCount: 100 },
      { input_tokens: -5, output_tokens: 1.5 },
      { input_tokens: 1e15, output_tokens: 'many' },
      { input_tokens: 1000, output_tokens: null },
    ],
  },
  {
    target: GEMINI,
    known: [
      { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 },
      { promptTokenCount: '1000', candidatesTokenCount: '100' },
      { promptTokenCount: 1000, candidatesTokenCount: 40, thoughtsTokenCount: 60 },
      { promptTokenCount: 1000, thoughtsTokenCount: 100 },
      { promptTokenCount: 900, toolUsePromptTokenCount: 100, candidatesTokenCount: 100 },
    ],
    unknown: [
      ...ALIEN,
      { prompt_tokens: 1000, completion_tokens: 100 },
      { input_tokens: 1000, output_tokens: 100 },
      { promptTokenCount: -5, candidatesTokenCount: 1.5 },
      { promptTokenCount: 1e15, candidatesTokenCount: 'many' },
      { promptTokenCount: 1000, candidatesTokenCount: {} },
    ],
  },
];

test.each(SHAPES)(
  'M-04: usage of $target.provider under any known name is charged alike, none at nothing in silence',
  async (scene) => {
    const { target, known, unknown } = scene;
    const usages = [...known, ...unknown];
    const jobId = await submitAnswered(
      gateway,
      caller,
      usages.length,
      (id) => usages.map((usage, index) => target.answered(id(index + 1), { usage })),
      target,
    );
    const { rows } = await soundEnd(gateway, caller, jobId);
    for (const row of rows.slice(0, known.length)) {
      expect(row.usage).toMatchObject({ input_tokens: 1000, output_tokens: 100, estimated: false });
      expect(row.cost).toBe(target.costOf1000And100);
    }
    for (const row of rows.slice(known.length)) {
      expect(row).toMatchObject({ status: 'completed', usage: { estimated: true, output_tokens: 200 } });
      expect(Number(row.cost)).toBeGreaterThan(0.000_2);
    }
  },
);

test.each([
  {
    model: 'anthropic/claude-haiku-5-5',
    marks: ['100000,10', '100001,10', '100001,100000,10'],
    // 0.05 and 0.25 a million up to 100K, cached ones included; 0.25, 0.025 and 1.25 above.
    costs: ['0.0050025', '0.02501275', '0.00251275'],
  },
  {
    model: 'gemini/gemini-2.5-pro',
    marks: ['200000,10', '200001,10', '200001,200000,10'],
    // 0.625 and 5 up to 200K; 1.25, 0.25 and 7.5 above.
    costs: ['0.12505', '0.25007625', '0.05007625'],
  },
])('M-08: each item of $model is priced in the tier of its own whole prompt', async ({ model, marks, costs }) => {
  const jobId = await caller.submitPrompts(
    marks.map((mark) => `[[sim:usage=${mark}]]`),
    { model },
  );
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.cost)).toEqual(costs);
});

interface QuoteAnswer {
  quote: { reserved: string; lines: { model: string; batch_price: string }[] };
}

test.each([
  { model: 'claude-sonnet-4-6', provider: 'anthropic', basis: 'published' },
  { model: 'gemini-2.5-flash', provider: 'gemini', basis: 'half_of_standard' },
])('M-07: the quote of $model tells where its batch price comes from', async ({ model, provider, basis }) => {
  const jobId = await caller.submitPrompts(prompts(2), { model: `${provider}/${model}` });
  const { quote } = await caller.call<QuoteAnswer>('GET', `/v1/batch-jobs/${jobId}/quote`);
  expect(quote.lines).toMatchObject([{ model, batch_price: basis }]);
  expect(Number(quote.reserved)).toBeGreaterThan(0);
  await soundEnd(gateway, caller, jobId);
});
