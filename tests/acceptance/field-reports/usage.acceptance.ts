import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../harness/gateway.ts';
import { completion, resultLine } from '../../harness/openai-lines.ts';
import { prompts } from '../../harness/provider-side.ts';
import { soundEnd, submitAnswered } from '../../harness/sound-end.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

interface QuoteAnswer {
  quote: {
    reserved: string;
    output_tokens: number;
    lines: { model: string; batch_price: string; estimated: string }[];
  };
}

const KNOWN = [
  { prompt_tokens: 1000, completion_tokens: 100 },
  { input_tokens: 1000, output_tokens: 100 },
  { prompt_tokens: '1000', completion_tokens: '100' },
  { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: null, completion_tokens_details: {} },
  { prompt_tokens: 1000, completion_tokens: 100, completion_tokens_details: { reasoning_tokens: 60 } },
];
const UNKNOWN = [
  undefined,
  null,
  'plenty',
  {},
  { units_read: 12, units_written: 34 },
  { promptTokenCount: 1000, candidatesTokenCount: 100 },
  { prompt_tokens: -5, completion_tokens: 1.5 },
  { prompt_tokens: 1e15, completion_tokens: 'many' },
];

test('M-04: usage under any known name is charged alike, and none is charged at nothing in silence', async () => {
  const { caller } = await gateway.newTenant();
  const usages = [...KNOWN, ...UNKNOWN];
  const jobId = await submitAnswered(gateway, caller, usages.length, (id) =>
    usages.map((usage, index) => resultLine(id(index + 1), completion({ usage }))),
  );
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job.counts.completed).toBe(usages.length);
  for (const row of rows.slice(0, KNOWN.length)) {
    expect(row.usage).toMatchObject({ input_tokens: 1000, output_tokens: 100, estimated: false });
    expect(row.cost).toBe('0.000105');
  }
  const estimated = rows.slice(KNOWN.length);
  for (const row of estimated) {
    expect(row.usage).toMatchObject({ estimated: true, output_tokens: 200 });
    expect(Number(row.cost)).toBeGreaterThan(0.000_06);
  }
  const { data } = await caller.call<{ data: { usage_estimated_items: number }[] }>('GET', '/v1/usage?group_by=tenant');
  expect(data[0]?.usage_estimated_items).toBe(UNKNOWN.length);
});

test('M-04: a reply without usage to a request without a cap is charged what was held for it', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  const ask = (content: string) => ({ messages: [{ role: 'user', content }] });
  await caller.append(jobId, [{ custom_id: 'row_1', request: ask('[[sim:usage=none]]') }]);
  await caller.submit(jobId);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(rows[0]?.usage).toMatchObject({ estimated: true, output_tokens: 2048 });
  expect(Number(job.cost.settled)).toBeGreaterThan(0.000_6);
});

test('M-04: a part of the usage that makes no sense leaves the rest charged in full', async () => {
  const { caller } = await gateway.newTenant();
  const base = { prompt_tokens: 1000, completion_tokens: 100 };
  const jobId = await submitAnswered(gateway, caller, 3, (id) => [
    resultLine(id(1), completion({ usage: { ...base, prompt_tokens_details: { cached_tokens: -1 } } })),
    resultLine(id(2), completion({ usage: { ...base, prompt_tokens_details: { cached_tokens: 4000 } } })),
    resultLine(id(3), completion({ usage: { prompt_tokens: 1000, completion_tokens: null } })),
  ]);
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.usage?.['estimated'])).toEqual([true, true, true]);
  // The whole input at the full rate; the cached part as it was told; the estimated 200 tokens of output.
  expect(rows.map((row) => row.cost)).toEqual(['0.000105', '0.00018', '0.000135']);
});

test.each([
  { model: 'gpt-4o-mini', mark: '[[sim:usage=1000,800,100]]', cost: '0.000075' },
  { model: 'gpt-4.1', mark: '[[sim:usage=1000,800,100]]', cost: '0.0008' },
  { model: 'gpt-6.1-terra', mark: '[[sim:usage=1000,800,100]][[sim:cache_write=100]]', cost: '0.0003825' },
  { model: 'gpt-5.6-terra', mark: '[[sim:usage=1000,0,100]][[sim:cache_write=1000]]', cost: '0.00185' },
  { model: 'gpt-4o-2024-05-13', mark: '[[sim:usage=1000,800,100]]', cost: '0.00325' },
])('M-06: cached tokens of $model are charged at their own batch price ($mark)', async ({ model, mark, cost }) => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.submitPrompts(prompts(2, mark), { model: `openai/${model}` });
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.cost)).toEqual([cost, cost]);
});

test.each([
  { model: 'gpt-4o-mini', endpoint: 'chat.completions', basis: 'half_of_standard', free: false },
  { model: 'gpt-6.1-terra', endpoint: 'chat.completions', basis: 'published', free: false },
  { model: 'text-embedding-3-small', endpoint: 'embeddings', basis: 'published', free: false },
  { model: 'omni-moderation-latest', endpoint: 'moderations', basis: 'free', free: true },
])('M-07: the quote of $model tells where its batch price comes from', async ({ model, endpoint, basis, free }) => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob({ endpoint, model: `openai/${model}` });
  const request = endpoint === 'chat.completions' ? { messages: [{ role: 'user', content: 'hi' }] } : { input: 'hi' };
  await caller.append(jobId, [{ custom_id: 'row_1', request }]);
  await caller.submit(jobId);
  const { quote } = await caller.call<QuoteAnswer>('GET', `/v1/batch-jobs/${jobId}/quote`);
  expect(quote.lines).toMatchObject([{ model, batch_price: basis }]);
  expect(quote.reserved === '0.00').toBe(free);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  expect(job.cost.settled === '0.00').toBe(free);
});

test('M-08: ten thousand tiny charges add up exactly', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob({ endpoint: 'embeddings', model: 'openai/text-embedding-3-small' });
  const lines = Array.from({ length: 10_000 }, (_, index) =>
    JSON.stringify({ custom_id: `row_${index + 1}`, request: { input: `text ${index} [[sim:usage=40,0]]` } }),
  );
  const headers = { 'content-type': 'application/x-ndjson' };
  const put = await caller.fetch(`/v1/batch-jobs/${jobId}/manifest`, {
    method: 'PUT',
    headers,
    body: lines.join('\n'),
  });
  expect(put.status).toBe(200);
  await caller.submit(jobId);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.every((row) => row.cost === '0.0000004')).toBe(true);
  expect(job.cost.settled).toBe('0.004');
  expect((await caller.budget()).settled).toBe('0.004');
  const { data } = await caller.call<{ data: { cost: string }[] }>('GET', `/v1/batch-jobs/${jobId}/usage`);
  expect(data.map(({ cost }) => cost)).toEqual(['0.004']);
});

test('M-08: each item is priced in the tier of its own input', async () => {
  const { caller } = await gateway.newTenant();
  const marks = ['[[sim:usage=272000,10]]', '[[sim:usage=272001,10]]', '[[sim:usage=10,10]]'];
  const jobId = await caller.submitPrompts(marks, { model: 'openai/gpt-5.6-terra' });
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.cost)).toEqual(['0.27206', '0.544092', '0.00007']);
  expect(job.cost.settled).toBe('0.816222');
});
