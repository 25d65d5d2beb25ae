import { expect, test, vi } from 'vitest';
import {
  AT_ONCE,
  create,
  lines,
  MODEL,
  operation,
  prompts,
  reached,
  startGemini,
  submit,
  submitInline,
} from './testing/harness.ts';

const HOUR_MS = 3_600_000;

test('answers create and get with an operation whose counts are text without zeros', async () => {
  const gemini = await startGemini({ ...AT_ONCE, pendingMs: 60_000, runningMs: 10 * HOUR_MS });
  const name = await submit(gemini, lines([...prompts(9), '[[sim:error=server_error]]']), 'ten');
  const pending = await vi.waitFor(async () => {
    const found = await operation(gemini, name);
    if (found.metadata.batchStats === undefined) throw new Error('the file was not read yet');
    return found;
  });
  expect(pending).toEqual({
    name,
    metadata: {
      '@type': 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch',
      model: `models/${MODEL}`,
      displayName: 'ten',
      inputConfig: { fileName: expect.stringMatching(/^files\//) },
      createTime: expect.any(String),
      updateTime: expect.any(String),
      batchStats: { requestCount: '10', pendingRequestCount: '10' },
      state: 'BATCH_STATE_PENDING',
      name,
    },
  });
  await gemini.control.advance(60_000);
  await reached(gemini, name, ['RUNNING']);
  await gemini.control.advance(5 * HOUR_MS);
  expect((await operation(gemini, name)).metadata.batchStats).toEqual({
    requestCount: '10',
    successfulRequestCount: '5',
    pendingRequestCount: '5',
  });
  await gemini.control.advance(5 * HOUR_MS);
  const ended = await reached(gemini, name);
  const file = ended.response?.responsesFile ?? '';
  expect(ended).toMatchObject({
    done: true,
    metadata: {
      state: 'BATCH_STATE_SUCCEEDED',
      batchStats: { requestCount: '10', successfulRequestCount: '9', failedRequestCount: '1' },
      output: { responsesFile: file },
      endTime: expect.any(String),
    },
    response: {
      '@type': 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatchOutput',
      responsesFile: file,
    },
  });
  expect(ended.error).toBeUndefined();
});

test.for([
  { resultDestination: 'file' as const, isFile: true },
  { resultDestination: 'inline' as const, isFile: false },
])('brings results back as $resultDestination however they came', async ({ resultDestination, isFile }) => {
  const gemini = await startGemini({ ...AT_ONCE, resultDestination });
  for (const name of [await submit(gemini, lines(['a'])), await submitInline(gemini, ['a'])]) {
    const { response, metadata } = await reached(gemini, name);
    expect(response?.responsesFile !== undefined).toBe(isFile);
    const inline = response?.inlinedResponses?.inlinedResponses;
    expect(metadata.output?.inlinedResponses?.inlinedResponses).toEqual(inline);
    if (!isFile) expect(inline).toMatchObject([{ metadata: { key: 'item-0' }, response: {} }]);
  }
});

test('shuffles inline results when told to', async () => {
  const gemini = await startGemini({ ...AT_ONCE, shuffleInline: true });
  const ended = await reached(gemini, await submitInline(gemini, prompts(10)));
  const keys = ended.response?.inlinedResponses?.inlinedResponses.map(({ metadata }) => metadata?.['key']);
  expect(keys).not.toEqual(prompts(10).map((_, index) => `item-${index}`));
  expect(keys?.toSorted()).toEqual(prompts(10).map((_, index) => `item-${index}`));
});

test('takes snake_case, a key in the query, JSON content types on GET and a body on DELETE', async () => {
  const gemini = await startGemini();
  const name = await create(gemini, {
    display_name: 'snake',
    input_config: {
      requests: {
        requests: [
          {
            request: {
              system_instruction: { parts: [{ text: 'Be brief.' }] },
              contents: { parts: [{ text: 'a' }] },
              generation_config: { max_output_tokens: '50', response_mime_type: 'application/json' },
            },
          },
        ],
      },
    },
    priority: '3',
  });
  const ended = await reached(gemini, name);
  expect(ended.metadata).toMatchObject({ displayName: 'snake', priority: '3' });
  const [item] = ended.response?.inlinedResponses?.inlinedResponses ?? [];
  expect(JSON.parse(item?.response?.candidates?.[0]?.content?.parts?.[0]?.text ?? '')).toHaveProperty('answer');
  const found = await fetch(`${gemini.url}/v1beta/${name}?key=abcd`, {
    headers: { 'content-type': 'application/json' },
  });
  expect(found.status).toBe(200);
  expect((await gemini.rest('DELETE', `/v1beta/${name}`, {})).text).toBe('{}');
});

test.for([
  { key: '', status: 403, code: 'PERMISSION_DENIED' },
  { key: 'an-invalid-key', status: 400, code: 'INVALID_ARGUMENT' },
])('refuses the key "$key" with $status', async ({ key, status, code }) => {
  const gemini = await startGemini();
  const response = await fetch(`${gemini.url}/v1beta/batches${key && `?key=${key}`}`);
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toMatchObject({ error: { code: status, status: code, message: expect.any(String) } });
});

const one = (request: unknown) => ({ inputConfig: { requests: { requests: [{ request }] } } });

test.for([
  { what: 'no input', batch: { displayName: 'x' }, message: 'input_config' },
  { what: 'two inputs', batch: { inputConfig: { fileName: 'files/a', requests: { requests: [{}] } } }, message: 'one' },
  { what: 'no requests', batch: { inputConfig: { requests: { requests: [] } } }, message: 'empty' },
  {
    what: 'an unknown field',
    batch: { ...one({}), model_name: 'x' },
    message: 'Unknown name "model_name" at \'batch\'',
  },
  {
    what: 'an unknown field beside a request',
    batch: { inputConfig: { requests: { requests: [{ request: {}, custom_id: 'a' }] } } },
    message: 'Unknown name "custom_id" at \'batch.input_config.requests.requests[0]\': Cannot find field.',
  },
])('refuses a create with $what', async ({ batch, message }) => {
  const { rest } = await startGemini();
  const { status, text } = await rest('POST', `/v1beta/models/${MODEL}:batchGenerateContent`, { batch });
  expect([status, JSON.parse(text).error.status]).toEqual([400, 'INVALID_ARGUMENT']);
  expect(JSON.parse(text).error.message).toContain(message);
});

test.for([
  { method: 'POST', path: `/v1beta/models/${MODEL}:streamGenerateContent` },
  { method: 'POST', path: `/v1beta/models/${MODEL}` },
  { method: 'GET', path: '/v1beta/batches/none' },
  { method: 'POST', path: '/v1beta/batches/none:cancel' },
  { method: 'GET', path: '/v2/batches' },
])('answers 404 to $method $path', async ({ method, path }) => {
  const { rest } = await startGemini();
  const { status, text } = await rest(method, path, method === 'POST' ? {} : undefined);
  expect([status, JSON.parse(text).error.status]).toEqual([404, 'NOT_FOUND']);
});

test('refuses a page token it has not given', async () => {
  const { rest } = await startGemini();
  expect((await rest('GET', '/v1beta/batches?pageToken=abc')).status).toBe(400);
  expect((await rest('GET', '/v1beta/files?pageSize=-1')).status).toBe(400);
});

test('records what was asked for, and of which batch', async () => {
  const gemini = await startGemini();
  const name = await submitInline(gemini, ['a', 'b'], { displayName: 'recorded' });
  await operation(gemini, name);
  const [created] = await gemini.control.journal({ route: 'batches.create' });
  expect(created?.facts).toMatchObject({
    batch_id: name,
    display_name: 'recorded',
    model: MODEL,
    lines: 2,
    bytes: expect.any(Number),
    credential: '...wxyz',
  });
  const [retrieved] = await gemini.control.journal({ route: 'batches.retrieve' });
  expect(retrieved?.facts).toMatchObject({ batch_id: name, display_name: 'recorded' });
});
