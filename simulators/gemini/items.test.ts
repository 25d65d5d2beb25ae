import { expect, test } from 'vitest';
import {
  AT_ONCE,
  create,
  lines,
  prompts,
  reached,
  request,
  resultsOf,
  run,
  runOne,
  startGemini,
  submit,
  submitInline,
} from './testing/harness.ts';

test.for([
  { name: 'server_error', code: 13 },
  { name: 'rate_limit', code: 8 },
  { name: 'insufficient_quota', code: 8 },
  { name: 'billing', code: 9 },
  { name: 'overloaded', code: 14 },
  { name: 'timeout', code: 4 },
  { name: 'context_length', code: 3 },
  { name: 'unauthorized', code: 16 },
  { name: 'forbidden', code: 7 },
  { name: 'no_such_error', code: 3 },
])('gives the item error of $name the code $code', async ({ name, code }) => {
  const gemini = await startGemini();
  const line = await runOne(gemini, `[[sim:error=${name}]]`);
  expect(line).toEqual({ key: 'item-0', error: { code, message: expect.any(String) } });
});

test('succeeds even where every item failed', async () => {
  const gemini = await startGemini();
  const ended = await reached(gemini, await submit(gemini, lines(['[[sim:invalid]]', '[[sim:nonsense]]'])));
  expect(ended.metadata).toMatchObject({
    state: 'BATCH_STATE_SUCCEEDED',
    batchStats: { requestCount: '2', failedRequestCount: '2' },
  });
  const results = await resultsOf(gemini, ended);
  expect(results.map(({ error }) => error?.code)).toEqual([3, 3]);
  expect(results.find(({ key }) => key === 'item-1')?.error?.message).toContain('nonsense');
});

const text = (value: string) => [{ parts: [{ text: value }] }];

test.for([
  {
    request: { contents: text('a'), generation_config: { thinkingBudget: 3 } },
    message: 'Unknown name "thinkingBudget" at \'generation_config\': Cannot find field.',
  },
  {
    request: { contents: text('a'), generationConfig: { responseSchema: { additionalProperties: false } } },
    message: 'Unknown name "additionalProperties" at \'generation_config.response_schema\'',
  },
  {
    request: { contents: [{ parts: [{ text: { type: 'text' } }] }] },
    message: "Invalid value at 'contents[0].parts[0]' (text), Starting an object on a scalar field",
  },
  { request: { contents: text('a'), generationConfig: { temperature: 'hot' } }, message: 'TYPE_FLOAT' },
  {
    request: { contents: text('a'), toolConfig: { functionCallingConfig: { mode: 'SOMETIMES' } } },
    message: 'tool_config.function_calling_config.mode',
  },
  { request: { messages: [] }, message: 'Unknown name "messages"' },
  { request: {}, message: 'contents is not specified' },
  { request: { contents: [{ parts: [] }] }, message: 'contents.parts must not be empty' },
  { request: { contents: [{ parts: [{}] }] }, message: "oneof field 'data'" },
  { request: { contents: [{ role: 'assistant', parts: [{ text: 'a' }] }] }, message: 'valid role' },
  { request: { contents: text('a'), generationConfig: { temperature: 3 } }, message: 'temperature' },
  { request: { contents: text('a'), generationConfig: { responseSchema: { type: 'STRING' } } }, message: 'mime type' },
  { request: { contents: text('a'), tools: [{ functionDeclarations: [{ name: '2x' }] }] }, message: 'function name' },
  {
    request: {
      contents: text('a'),
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['g'] } },
    },
    message: 'g is not a declared function',
  },
])('gives the item of a bad request an error: $message', async ({ request: bad, message }) => {
  const gemini = await startGemini();
  const line = await runOne(gemini, bad);
  expect(line).toMatchObject({ key: 'item-0', error: { code: 3, message: expect.stringContaining(message) } });
});

test.for([
  { model: 'models/unknown-x', code: 5 },
  { model: 'models/gemini-2.5-pro', code: 3 },
  { model: 'models/gemini-2.5-flash', code: undefined },
])('answers a request that names the model $model with $code', async ({ model, code }) => {
  const gemini = await startGemini();
  expect((await runOne(gemini, { model, contents: text('a') })).error?.code).toBe(code);
});

test.for([
  { what: 'is no JSON', bad: 'nonsense' },
  { what: 'is no object', bad: '[1]' },
  { what: 'asks for it', bad: lines(['[[sim:invalid_line]]'])[0] ?? '' },
])('fails the whole batch for a line that $what, and names it', async ({ bad }) => {
  const gemini = await startGemini();
  const ended = await reached(gemini, await submit(gemini, [...lines(['a']), bad]));
  expect(ended).toMatchObject({
    done: true,
    error: { code: 3, message: expect.stringMatching(/^Error on line 2/) },
    metadata: { state: 'BATCH_STATE_FAILED' },
  });
  expect(ended.response).toBeUndefined();
});

test('fails a batch of an empty file', async () => {
  const gemini = await startGemini();
  const ended = await reached(gemini, await submit(gemini, ['', ' ']));
  expect(ended.error).toEqual({ code: 3, message: 'The input holds no requests.' });
});

test('refuses bad requests at create when told to, and takes good ones', async () => {
  const gemini = await startGemini({ ...AT_ONCE, badRequestsFail: 'create' });
  const bad = JSON.stringify({ key: 'b', request: { ...request('a'), thinking_config: {} } });
  await expect(submit(gemini, [...lines(['a']), bad, 'nonsense'])).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(
      "Error on line 2: invalid JSON, no such field: 'thinking_config'\\nError on line 3",
    ),
  });
  const inline = create(gemini, { inputConfig: { requests: { requests: [{ request: { model_id: 'x' } }] } } });
  await expect(inline).rejects.toThrow("at 'batch.input_config.requests.requests[0].request'");
  expect((await gemini.client.batches.list()).page).toEqual([]);
  await reached(gemini, await submit(gemini, lines(['a'])), ['SUCCEEDED']);
});

test('leaves a result out, and gives one twice, though the counts say otherwise', async () => {
  const gemini = await startGemini();
  const ended = await reached(gemini, await submit(gemini, lines(['a', '[[sim:missing]]', '[[sim:duplicate]]'])));
  expect(ended.metadata.batchStats).toEqual({ requestCount: '3', successfulRequestCount: '3' });
  const keys = (await resultsOf(gemini, ended)).map(({ key }) => key);
  expect(keys.toSorted()).toEqual(['item-0', 'item-2', 'item-2']);
});

test('holds directives marked once for the first batch alone', async () => {
  const gemini = await startGemini();
  const prompt = '[[sim:once]][[sim:error=overloaded]]';
  expect((await runOne(gemini, prompt)).error?.code).toBe(14);
  expect((await runOne(gemini, prompt)).error).toBeUndefined();
});

test('gives keys back as they are, and no key where there was none', async () => {
  const gemini = await startGemini();
  const text = [{ key: 'Ünïcode "quoted"', request: request('a') }, { request: request('b') }];
  const ended = await reached(
    gemini,
    await submit(
      gemini,
      text.map((line) => JSON.stringify(line)),
    ),
  );
  const keys = (await resultsOf(gemini, ended)).map((line) => ('key' in line ? line.key : 'none'));
  expect(keys.toSorted()).toEqual(['none', 'Ünïcode "quoted"'].toSorted());
});

test('keeps any metadata of an inline request', async () => {
  const gemini = await startGemini();
  const metadata = { key: 'a', nested: { number: 3 } };
  const requests = [{ request: request('a'), metadata }, { request: request('b') }];
  const ended = await reached(gemini, await create(gemini, { inputConfig: { requests: { requests } } }));
  expect(ended.response?.inlinedResponses?.inlinedResponses.map((each) => each.metadata)).toEqual([
    metadata,
    undefined,
  ]);
});

test('runs batches by prompts and reads every kind of result', async () => {
  const gemini = await startGemini();
  const results = await run(gemini, prompts(3));
  expect(new Set([...results.values()].map(({ response }) => response?.['responseId'])).size).toBe(3);
  const inline = await reached(gemini, await submitInline(gemini, ['question 1']));
  const [same] = await resultsOf(gemini, inline);
  expect(same?.response?.candidates).toEqual(results.get('item-1')?.response?.candidates);
});
