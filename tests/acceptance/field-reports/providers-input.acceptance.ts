import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANTHROPIC, atEach, type ChatTarget, GEMINI, OPENAI } from '../../harness/chat-targets.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchAt, batchesAt, createsOf } from '../../harness/provider-calls.ts';
import { faultAt, prompts } from '../../harness/provider-side.ts';
import { soundEnd, withStatus } from '../../harness/sound-end.ts';

const MARK = '[[sim:usage=1000,100]]';
const USUAL = { anthropic: { maxBytes: 256_000_000 }, gemini: { maxFileBytes: 2 * 1024 ** 3 } };

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterEach(async () => {
  await gateway.simulator.clearFaults();
  await gateway.simulator.settings(USUAL);
});
afterAll(() => gateway.stop());

interface OperatorAnswer {
  shards: { state: string; provider: string; provider_model: string; item_count: number }[];
}

const shardsOf = async (jobId: string) =>
  (await gateway.operator.call<OperatorAnswer>('GET', `/v1/operator/jobs/${jobId}`)).shards;

/** Sees that a job is sound whose items have ids of their own, and answers its rows by them. */
async function soundRows(jobId: string) {
  const job = await caller.ended(jobId, 60_000);
  await gateway.expectSound(jobId);
  const { completed, failed, expired, cancelled, total } = job.counts;
  expect(completed + failed + expired + cancelled).toBe(total);
  expect(job.cost.held).toBe('0.00');
  const rows = await caller.results(jobId);
  expect(rows).toHaveLength(total);
  return { job, rows: new Map(rows.map((row) => [row.custom_id, row])) };
}

test('I-09: a batch that its provider finds too large is split until it fits, and every item ends once', async () => {
  await gateway.simulator.settings({ anthropic: { maxBytes: 2_500 }, gemini: { maxFileBytes: 2_500 } });
  await atEach([ANTHROPIC, GEMINI], async ({ model }) => {
    const jobId = await caller.submitPrompts(prompts(40, MARK), { model });
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 40 } });
    const shards = await shardsOf(jobId);
    const settled = shards.filter(({ state }) => state === 'settled');
    expect(settled.length).toBeGreaterThan(2);
    expect(settled.reduce((sum, { item_count }) => sum + item_count, 0)).toBe(40);
    expect(await batchesAt(gateway, jobId)).toHaveLength(settled.length);
  });
});

test('I-09: an item that no batch of its provider can hold fails alone', async () => {
  await gateway.simulator.settings({ anthropic: { maxBytes: 2_500 }, gemini: { maxFileBytes: 2_500 } });
  await atEach([ANTHROPIC, GEMINI], async ({ model }) => {
    const large = 'word '.repeat(1_000);
    const jobId = await caller.submitPrompts([...prompts(3), large, ...prompts(2)], { model });
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 5, failed: 1 } });
    expect(rows[3]).toMatchObject({ cost: '0.00', error: { class: 'validation', code: 'provider_rejected' } });
  });
});

const IDS = [
  'x'.repeat(300),
  'with spaces  twice',
  'Zażółć gęślą jaźń – déjà vu',
  '発注/7?a=1&b=%2e%2e#part',
  'a.b:c/d',
  '1',
  '__proto__',
];

test('I-09: ids of any kind come back exactly from every provider, which never sees them', async () => {
  await atEach([OPENAI, ANTHROPIC, GEMINI], async ({ model }) => {
    const jobId = await caller.createJob({ model });
    const request = (text: string) => ({ messages: [{ role: 'user', content: text }], max_tokens: 50 });
    await caller.append(
      jobId,
      IDS.map((id, index) => ({ custom_id: id, request: request(`[[sim:text=answer ${index}]]`) })),
    );
    await caller.submit(jobId);
    const { job, rows } = await soundRows(jobId);
    expect(job.status).toBe('completed');
    for (const [index, id] of IDS.entries()) {
      expect(rows.get(id)?.result).toMatchObject({ choices: [{ message: { content: `answer ${index}` } }] });
    }
  });
});

test('I-10: lines that Gemini names at its own validation fail alone, and the rest runs without them', async () => {
  const bad = '[[sim:invalid_line]]';
  const jobId = await caller.submitPrompts(['a', bad, 'c', 'd', bad, 'f'], { model: GEMINI.model });
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 4, failed: 2 } });
  expect(withStatus(rows, 'failed').map(({ custom_id: id, error }) => [id, error?.code])).toEqual([
    ['row_2', 'invalid_request'],
    ['row_5', 'invalid_request'],
  ]);
  expect(await createsOf(gateway, jobId)).toHaveLength(3);
});

test('B-04: a request without a cap is given the one that is held for it, where its provider wants one', async () => {
  const jobId = await caller.createJob({ model: ANTHROPIC.model });
  const messages = [{ role: 'user', content: `[[sim:chars=40000]]` }];
  await caller.append(jobId, [{ custom_id: 'row_1', request: { messages } }]);
  const { cost } = await caller.submit(jobId);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  expect(Number(rows[0]?.cost)).toBeLessThanOrEqual(Number(cost.reserved));
});

/** A job whose batch waits at the provider, so that its answer can be written beforehand. */
async function submitNative(target: ChatTarget, endpoint: string, requests: readonly object[]): Promise<string> {
  await gateway.simulator.faults(
    faultAt(target.provider, 'batches.create', { stuck: { state: 'in_progress', finished: 0 } }),
  );
  const jobId = await caller.createJob({ endpoint, model: target.model });
  const items = requests.map((request, index) => ({ custom_id: `row_${index + 1}`, request }));
  await caller.append(jobId, items);
  await caller.submit(jobId);
  return jobId;
}

const NATIVE = [
  {
    target: ANTHROPIC,
    endpoint: 'messages',
    request: {
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be terse.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
      stop_sequences: ['END'],
    },
    reply:
      '{"id":"msg_1", "type":"message","role":"assistant","model":"claude-sonnet-4-6","b":1.0e2,"a":12345678901234567890,' +
      '"content":[ {"type":"text","text":"caf\\u00e9 \\ud83d\\ude00 \\/"} ],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":100}}',
    line: (id: string, reply: string) => `{"custom_id":"${id}","result":{"type":"succeeded","message":${reply}}}`,
  },
  {
    target: GEMINI,
    endpoint: 'generate_content',
    request: {
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      systemInstruction: { parts: [{ text: 'Be terse.' }] },
      generationConfig: { temperature: 0.5, maxOutputTokens: 100, topK: 3 },
    },
    reply:
      '{"candidates":[ {"content":{"parts":[{"text":"caf\\u00e9 \\ud83d\\ude00 \\/"}],"role":"model"},"finishReason":"STOP","avgLogprobs":-1.0e-2}],' +
      '"z":12345678901234567890,"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":100},"modelVersion":"gemini-2.5-flash"}',
    line: (id: string, reply: string) => `{"key":"${id}","response":${reply}}`,
  },
];

test.each(NATIVE)('a result of $endpoint is the provider’s own body, byte for byte', async (scene) => {
  const { target, endpoint, request, reply, line } = scene;
  const jobId = await submitNative(target, endpoint, [request]);
  const { id, token } = await batchAt(gateway, jobId);
  const lines = [line(`${token}-1`, reply)];
  await gateway.simulator.faults(
    faultAt(target.provider, 'batch:results', { omit_lines: {}, append_raw_lines: lines }),
  );
  await gateway.simulator.batch(id, { stuck: null });
  const { rows } = await soundEnd(gateway, caller, jobId);
  expect(rows[0]).toMatchObject({ status: 'completed', cost: target.costOf1000And100 });
  const response = await caller.fetch(`/v1/batch-jobs/${jobId}/results`, {
    headers: { accept: 'application/x-ndjson' },
  });
  expect(await response.text()).toContain(`"result":${reply},`);
});

test('native requests run as they are, each answered in its provider’s own shape', async () => {
  const texts = [`one ${MARK}`, 'two [[sim:safety]]', 'three [[sim:error=overloaded]]'];
  const messages = texts.map((text) => ({ max_tokens: 50, messages: [{ role: 'user', content: text }] }));
  const contents = texts.map((text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }));
  const run = async (target: ChatTarget, endpoint: string, requests: object[]) => {
    const jobId = await submitNative(target, endpoint, requests);
    const { id } = await batchAt(gateway, jobId);
    await gateway.simulator.batch(id, { stuck: null });
    const { rows } = await soundEnd(gateway, caller, jobId);
    expect(rows.map((row) => row.error?.code ?? row.status)).toEqual([
      'completed',
      'safety_blocked',
      'provider_overloaded',
    ]);
    expect(rows[0]?.cost).toBe(target.costOf1000And100);
    return rows[0]?.result;
  };
  const [message, response] = await Promise.all([
    run(ANTHROPIC, 'messages', messages),
    run(GEMINI, 'generate_content', contents),
  ]);
  expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
  expect(response).toMatchObject({ candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] });
});

test('embeddings of Gemini come in OpenAI’s shape, their numbers as the provider wrote them', async () => {
  const jobId = await caller.createJob({ endpoint: 'embeddings', model: 'gemini/gemini-embedding-001' });
  await caller.append(jobId, [
    { custom_id: 'row_1', request: { input: 'one [[sim:usage=1000,0]]' } },
    { custom_id: 'row_2', request: { input: ['two'], dimensions: 4, encoding_format: 'float' } },
    { custom_id: 'row_3', request: { input: 'three [[sim:error=rate_limit]]' } },
  ]);
  await caller.submit(jobId);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 2, failed: 1 } });
  // 1000 × 0.075 dollars per million tokens.
  expect(rows[0]).toMatchObject({
    cost: '0.000075',
    usage: { input_tokens: 1000, output_tokens: 0, estimated: false },
  });
  expect(rows[0]?.result).toMatchObject({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: expect.any(Array) }],
    usage: { prompt_tokens: 1000, total_tokens: 1000 },
  });
  const [{ embedding } = { embedding: [] }] = (rows[1]?.result?.['data'] ?? []) as { embedding: number[] }[];
  expect(embedding).toHaveLength(4);
  expect(embedding.every((value) => typeof value === 'number')).toBe(true);
  expect(rows[2]?.error?.code).toBe('rate_limited');
});

/** A job of one model with items for the models of others: three of each. */
async function submitMixed(): Promise<string> {
  const jobId = await caller.createJob({ model: ANTHROPIC.model });
  const models = [undefined, OPENAI.model, GEMINI.model];
  const items = Array.from({ length: 9 }, (_, index) => {
    const model = models[index % models.length];
    const messages = [{ role: 'user', content: `question ${index} ${MARK}` }];
    return { custom_id: `row_${index + 1}`, request: { messages, max_tokens: 200, ...(model && { model }) } };
  });
  await caller.append(jobId, items);
  await caller.submit(jobId);
  return jobId;
}

test('items that name models of other providers run there, in shards of their own, each at its own price', async () => {
  const jobId = await submitMixed();
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 9 } });
  const costs = [ANTHROPIC, OPENAI, GEMINI].map((target) => target.costOf1000And100);
  expect(rows.map((row) => row.cost)).toEqual([...costs, ...costs, ...costs]);
  // 3 × (0.00225 + 0.000105 + 0.000275).
  expect(job.cost.settled).toBe('0.00789');
  const shards = await shardsOf(jobId);
  const targets = shards.map(({ provider, provider_model, item_count }) => [
    `${provider}/${provider_model}`,
    item_count,
  ]);
  expect(targets.toSorted()).toEqual([
    ['anthropic/claude-sonnet-4-6', 3],
    ['gemini/gemini-2.5-flash', 3],
    ['openai/gpt-4o-mini', 3],
  ]);
  expect(await batchesAt(gateway, jobId)).toHaveLength(3);
});

test('what befalls the batch of one provider leaves the items at the others alone', async () => {
  await gateway.simulator.faults(
    faultAt('anthropic', 'batches.create', { end_state: { status: 'expired', finished: 1 } }),
    faultAt('gemini', 'batches.create', {
      end_state: { status: 'failed', errors: [{ code: 'INTERNAL', message: 'no' }] },
    }),
  );
  const jobId = await submitMixed();
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.counts).toMatchObject({ completed: 4, expired: 2, failed: 3 });
  expect(Number(job.cost.settled)).toBeCloseTo(3 * 0.000_105 + 0.002_25, 9);
});

test('a cancel of a job at three providers reaches each, and each keeps what it keeps', async () => {
  const stuck = { stuck: { state: 'in_progress' as const, finished: 1 } };
  for (const { provider } of [OPENAI, ANTHROPIC, GEMINI]) {
    await gateway.simulator.faults(faultAt(provider, 'batches.create', stuck));
  }
  const jobId = await submitMixed();
  await eventually(async () => {
    const batches = await batchesAt(gateway, jobId);
    return (
      batches.length === 3 && batches.every(({ status }) => status === 'in_progress' || status.endsWith('RUNNING'))
    );
  });
  await caller.cancel(jobId);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    status: 'cancelled',
    counts: { completed: 2, cancelled: 7 },
    cancel: { outcome: 'partial' },
    cost: { settled: '0.002355' },
  });
});
