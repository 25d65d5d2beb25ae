import { afterAll, expect, test } from 'vitest';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const admin = await api.caller('gateway_admin');

const CHINESE = '委员会审查了季度数据,并要求提交一份更简短的摘要。';

async function draftOf(caller: ApiCaller, requests: readonly Record<string, unknown>[], options = {}): Promise<string> {
  const jobId = await caller.draft(0, options);
  const items = requests.map((request, index) => ({ custom_id: `row_${index}`, request }));
  const answer = await caller.post(`/v1/batch-jobs/${jobId}/items`, { items });
  expect(answer.status).toBeLessThan(300);
  return jobId;
}

function chat(content: string, more: Record<string, unknown> = {}) {
  return { messages: [{ role: 'user', content }], max_tokens: 100, ...more };
}

const estimateOf = async (caller: ApiCaller, jobId: string) =>
  (await caller.post(`/v1/batch-jobs/${jobId}/validate`)).json.estimate;
const quoteOf = async (caller: ApiCaller, jobId: string) => (await caller.get(`/v1/batch-jobs/${jobId}/quote`)).json;

test('validate, the quote of the draft, submit and the quote of the submission say the same', async () => {
  const caller = await api.caller();
  const texts = Array.from({ length: 40 }, (_, index) => chat(`${CHINESE.repeat(1 + (index % 7))}${index}`));
  const jobId = await draftOf(caller, texts);
  const estimate = await estimateOf(caller, jobId);
  expect((await quoteOf(caller, jobId)).quote).toEqual(estimate);
  const { status, json } = await caller.post(`/v1/batch-jobs/${jobId}/submit`);
  expect(status).toBe(202);
  expect(json.cost).toMatchObject({ estimated: estimate.estimated, reserved: estimate.reserved });
  expect(await quoteOf(caller, jobId)).toMatchObject({ basis: 'submission', quote: estimate });
});

test('a quote tells what was counted, what a sample said, and what output was expected and why', async () => {
  const caller = await api.caller();
  const capped = Array.from({ length: 30 }, () => chat(CHINESE.repeat(10)));
  const jobId = await draftOf(caller, [...capped, chat('hello', { max_tokens: undefined })]);
  const quote = await estimateOf(caller, jobId);
  const [model] = quote.calibration.models;
  expect(quote.calibration).toMatchObject({ library: 'gpt-tokenizer 4.0.0', sampled_items: 31 });
  expect(model).toMatchObject({ requested_model: '', model: 'gpt-4o-mini', encoding: 'o200k_base', ratio: '1.00' });
  const bands = model.bands.map(({ band, items }: { band: string; items: number }) => [band, items]);
  expect(bands).toEqual([
    ['short', 1],
    ['medium', 30],
  ]);
  expect(Number(model.factor)).toBeGreaterThan(0.4);
  expect(Number(model.factor)).toBeLessThan(0.8);
  expect(quote.input_tokens).toBeLessThan(quote.counted_input_tokens * 0.8);
  expect(quote.expected_output).toMatchObject([
    { method: 'default', reasons: false, replies: 1, tokens_each: 2_048, tokens: 2_048 },
    { method: 'cap', reasons: null, replies: null, tokens_each: null, tokens: 3_000 },
  ]);
  expect(quote.output_tokens).toBe(5_048);
});

test('a model without a public tokenizer is reckoned with a ratio, which is told with its source', async () => {
  const caller = await api.caller();
  const texts = Array.from({ length: 10 }, () =>
    chat('The committee reviewed the quarterly figures again. '.repeat(20)),
  );
  const at = async (model: string) => estimateOf(caller, await draftOf(caller, texts, { model }));
  const openai = await at('openai/gpt-4o-mini');
  const anthropic = await at('anthropic/claude-opus-4-7');
  expect(anthropic.calibration.models[0]).toMatchObject({ encoding: 'o200k_base', ratio: '1.76' });
  expect(anthropic.calibration.models[0].ratio_source).not.toBe('');
  expect(anthropic.input_tokens / openai.input_tokens).toBeGreaterThan(1.6);
  expect(anthropic.input_tokens / openai.input_tokens).toBeLessThan(1.8);
});

const BASE64 = Buffer.alloc(1_000_000, 7).toString('base64');

test.each<[string, string, string, readonly Record<string, unknown>[]]>([
  [
    'embeddings of a string',
    'embeddings',
    'text-embedding-3-small',
    ['a', 'a b '.repeat(500)].map((input) => ({ input })),
  ],
  [
    'embeddings of a list',
    'embeddings',
    'text-embedding-3-small',
    [['a'], new Array(50).fill('words of a text')].map((input) => ({ input })),
  ],
  [
    'embeddings of token ids',
    'embeddings',
    'text-embedding-3-small',
    [[1], new Array(900).fill(7)].map((input) => ({ input })),
  ],
  [
    'responses',
    'responses',
    'gpt-4o-mini',
    ['a', 'a b '.repeat(500)].map((input) => ({ input, max_output_tokens: 9 })),
  ],
  [
    'messages',
    'messages',
    'claude-haiku-4-5',
    ['a', 'a b '.repeat(500)].map((text) => ({ max_tokens: 9, messages: [{ role: 'user', content: text }] })),
  ],
  [
    'generate_content',
    'generate_content',
    'gemini-2.5-flash',
    ['a', 'a b '.repeat(500)].map((text) => ({
      contents: [{ parts: [{ text }] }],
      generationConfig: { maxOutputTokens: 9 },
    })),
  ],
  [
    'attachments',
    'chat.completions',
    'gpt-4o-mini',
    [1_000, BASE64.length].map((length) => ({
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${BASE64.slice(0, length)}` },
            },
          ],
        },
      ],
    })),
  ],
  [
    'tools',
    'chat.completions',
    'gpt-4o-mini',
    [1, 40].map((count) => ({
      ...chat('a'),
      tools: Array.from({ length: count }, (_, index) => ({
        type: 'function',
        function: {
          name: `tool_${index}`,
          parameters: { type: 'object', properties: { some_name: { type: 'string' } } },
        },
      })),
    })),
  ],
])('%s have a hold that grows with what is sent', async (_, endpoint, model, [small, large]) => {
  const caller = await api.caller();
  const holds = [];
  for (const request of [small, large]) {
    const estimate = await estimateOf(caller, await draftOf(caller, [request ?? {}], { endpoint, model }));
    expect(estimate, JSON.stringify(request).slice(0, 200)).not.toBeNull();
    holds.push(estimate);
  }
  const [little, much] = holds;
  expect(Number(little.reserved)).toBeGreaterThan(0);
  expect(much.input_tokens).toBeGreaterThan(little.input_tokens * 3);
  expect(Number(much.reserved)).toBeGreaterThan(Number(little.reserved));
});

test("an attachment's hold is not below the floor of its size, whatever a sample says", async () => {
  const caller = await api.caller();
  const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${BASE64}` };
  const request = { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'file', file }] }] };
  const texts = Array.from({ length: 20 }, () => chat(CHINESE));
  const alone = await estimateOf(caller, await draftOf(caller, texts));
  const { input_tokens: tokens } = await estimateOf(caller, await draftOf(caller, [...texts, request]));
  expect(tokens - alone.input_tokens).toBeGreaterThanOrEqual(50_000);
});

test("a tenant's margin is set by an admin, held on top, and told with the quote", async () => {
  const tenantId = await api.tenant();
  const caller = await api.caller('tenant_admin', { tenantId });
  const jobId = await caller.draft(3);
  const before = await estimateOf(caller, jobId);
  expect(before.margin).toBe('0.10');
  const path = `/v1/admin/tenants/${tenantId}`;
  const patch = (json: unknown) => admin.call('PATCH', path, { json });
  expect(await patch({ estimate_margin: '1' })).toMatchObject({ status: 200, json: { estimate_margin: '1.00' } });
  const after = await estimateOf(caller, jobId);
  expect(after).toMatchObject({ margin: '1.00', estimated: before.estimated });
  expect(Number(after.reserved)).toBeCloseTo(2 * Number(before.estimated), 12);
  for (const margin of ['-0.1', '5.01', '0.1234567', '1e1', '', '.5', 'a']) {
    expect((await patch({ estimate_margin: margin })).status, margin).toBe(400);
  }
  expect((await patch({ estimate_margin: 0.1 })).status).toBe(400);
  for (const margin of ['0', '5', '0.123456']) expect((await patch({ estimate_margin: margin })).status).toBe(200);
});

test('a quote from before its inputs were kept is still shown', async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  const { quote } = await quoteOf(caller, jobId);
  await db.pool.query(
    `UPDATE job_submissions SET quote = quote - 'calibration' - 'expected_output' - 'counted_input_tokens'
     WHERE job_id = (SELECT job_id FROM batch_jobs WHERE api_key_id = (SELECT key_id FROM api_keys ORDER BY created_at DESC LIMIT 1))`,
  );
  expect((await quoteOf(caller, jobId)).quote).toEqual({
    ...quote,
    counted_input_tokens: null,
    calibration: null,
    expected_output: [],
  });
});
