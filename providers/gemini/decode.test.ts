import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../domain/provider.ts';
import { decodeLine } from './decode.ts';

const TOKEN = 'att01j7q2m5k8';

function fixture(name: string): string[] {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

function decodeItem(endpoint: Endpoint, lines: string[], itemNo: number) {
  const line = lines.find((candidate) => candidate.includes(`"${TOKEN}-${itemNo}"`)) ?? '';
  const decoded = decodeLine(endpoint, line);
  if (decoded.kind !== 'result') throw new Error(`line of item ${itemNo} is ${decoded.reason}`);
  expect(decoded.providerItemId).toBe(`${TOKEN}-${itemNo}`);
  return { line, result: decoded.result };
}

const generated = fixture('output-generate-content.jsonl');
const errors = fixture('errors.jsonl');

function decodeChat(itemNo: number): OpenAI.ChatCompletion {
  const { result } = decodeItem('chat.completions', generated, itemNo);
  if (result.kind !== 'completed') throw new Error(result.kind);
  return JSON.parse(result.body);
}

test.each([
  [1, 'an answer'],
  [2, 'an answer with thinking, separators and a decoy key'],
  [3, 'an empty answer cut by length'],
  [4, 'function calls'],
  [5, 'a filtered answer of which a part is left'],
  [6, 'two candidates'],
  [14, 'an answer that ended for some other reason'],
  [16, 'an answer beside one that was filtered'],
  [17, 'thinking that came to nothing'],
])('item %i, %s, is completed with the body byte for byte', (itemNo) => {
  const { line, result } = decodeItem('generate_content', generated, itemNo);
  if (result.kind !== 'completed') throw new Error(result.kind);
  expect(line).toContain(`"response": ${result.body}}`);
  expect(result.model).toBe('gemini-2.5-flash');
  expect(result.usage).not.toBeNull();
  expect(decodeItem('chat.completions', generated, itemNo).result).toMatchObject({ kind: 'completed' });
});

test.each([
  [7, 'PROHIBITED_CONTENT', 'a prompt that was refused'],
  [8, 'SAFETY', 'a candidate without content'],
  [9, 'RECITATION', 'a candidate without parts'],
  [10, 'PROHIBITED_CONTENT', 'a candidate with an empty text'],
])('item %i is blocked by %s and keeps the usage it reports: %s', (itemNo, nativeCode) => {
  for (const endpoint of ['generate_content', 'chat.completions'] as const) {
    expect(decodeItem(endpoint, generated, itemNo).result).toMatchObject({
      kind: 'failed',
      class: 'safety_blocked',
      code: 'safety_blocked',
      nativeCode,
      usage: { inputTokens: 23 },
      body: expect.stringContaining('usageMetadata'),
    });
  }
});

test('an answer with nothing in it and no reason is a malformed result', () => {
  const empty = decodeItem('generate_content', generated, 12).result;
  expect(empty).toMatchObject({ kind: 'failed', class: 'unparseable_result', code: 'malformed_result' });
  expect(empty).not.toHaveProperty('usage');
  for (const itemNo of [11, 13]) {
    expect(decodeItem('chat.completions', generated, itemNo).result).toMatchObject({
      code: 'malformed_result',
      usage: { inputTokens: 23 },
    });
  }
});

test('counts tools in the prompt and thinking in the output, and an unknown shape as none', () => {
  expect(decodeItem('generate_content', generated, 2).result).toMatchObject({
    usage: { inputTokens: 1230, cachedInputTokens: 1024, outputTokens: 90, reasoningTokens: 64 },
  });
  expect(decodeItem('chat.completions', generated, 3).result).toMatchObject({
    usage: { inputTokens: 23, outputTokens: 100, reasoningTokens: 100 },
  });
  expect(decodeItem('chat.completions', generated, 15).result).toMatchObject({ kind: 'completed', usage: null });
});

test('shows a neutral answer in the shape of a chat completion, thinking left out', () => {
  expect(decodeChat(2)).toEqual({
    id: 'resp-1',
    object: 'chat.completion',
    created: 0,
    model: 'gemini-2.5-flash',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'one\u2028two \u0085"three" {"response": 1.50}', refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    usage: {
      prompt_tokens: 1230,
      completion_tokens: 90,
      total_tokens: 1320,
      prompt_tokens_details: { cached_tokens: 1024, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 64 },
    },
  });
});

test('shows function calls as tool calls, with the arguments as written', () => {
  expect(decodeChat(4).choices).toMatchObject([
    {
      message: {
        content: 'Let me look.',
        tool_calls: [
          {
            id: 'call_0_1',
            type: 'function',
            function: { name: 'lookup', arguments: '{"city": "Zürich", "n": 1.5}' },
          },
          { id: 'fc-2', type: 'function', function: { name: 'now', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ]);
});

test.each([
  [3, '', 'length'],
  [5, 'Half an ans', 'content_filter'],
  [14, 'Still here.', 'stop'],
  [17, '', 'stop'],
])('item %i has the content %j and finish reason %s', (itemNo, content, finishReason) => {
  expect(decodeChat(itemNo).choices).toMatchObject([{ message: { content }, finish_reason: finishReason }]);
});

test('has a choice for each candidate', () => {
  expect(decodeChat(6).choices).toMatchObject([
    { index: 0, message: { content: 'A' }, finish_reason: 'stop' },
    { index: 1, message: { content: 'B' }, finish_reason: 'length' },
  ]);
  expect(decodeChat(16).choices).toMatchObject([
    { message: { content: 'ok' } },
    { message: { content: '' }, finish_reason: 'content_filter' },
  ]);
});

test('an embedding is a list of one in OpenAI’s shape, its numbers as written', () => {
  const lines = fixture('output-embeddings.jsonl');
  const first = decodeItem('embeddings', lines, 1).result;
  if (first.kind !== 'completed') throw new Error(first.kind);
  expect(first.body).toContain('"embedding":[0.10,-1e-07,1.0]');
  expect(first).toMatchObject({ usage: { inputTokens: '8', outputTokens: 0 } });
  expect(JSON.parse(first.body)).toEqual({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.1, -1e-7, 1] }],
    model: '',
    usage: { prompt_tokens: 8, total_tokens: 8 },
  });
  expect(decodeItem('embeddings', lines, 2).result).toMatchObject({ usage: { inputTokens: 5, outputTokens: 0 } });
  expect(decodeItem('embeddings', lines, 3).result).toMatchObject({
    usage: null,
    body: expect.stringContaining('[ 2.50 ]'),
  });
  expect(decodeItem('embeddings', lines, 4).result).toMatchObject({ code: 'malformed_result' });
});

test.each([
  [1, 'validation', 'invalid_request', 'INVALID_ARGUMENT', '3'],
  [2, 'validation', 'context_too_long', 'INVALID_ARGUMENT', '3'],
  [3, 'rate_limited', 'rate_limited', 'RESOURCE_EXHAUSTED', '8'],
  [4, 'provider_error', 'provider_account_exhausted', 'RESOURCE_EXHAUSTED', '8'],
  [5, 'provider_error', 'provider_server_error', 'INTERNAL', '13'],
  [6, 'provider_error', 'provider_overloaded', 'UNAVAILABLE', '14'],
  [7, 'provider_error', 'provider_timeout', 'DEADLINE_EXCEEDED', '4'],
  [8, 'provider_error', 'provider_server_error', 'UNKNOWN', '2'],
  [9, 'provider_error', 'provider_credential_rejected', 'PERMISSION_DENIED', '7'],
  [10, 'provider_error', 'provider_credential_rejected', 'UNAUTHENTICATED', '16'],
  [11, 'validation', 'model_unavailable', 'NOT_FOUND', '5'],
  [12, 'validation', 'invalid_request', 'PERMISSION_DENIED', '7'],
  [13, 'validation', 'invalid_request', 'FAILED_PRECONDITION', '9'],
  [14, 'validation', 'invalid_request', 'NOT_FOUND', '5'],
  [16, 'provider_error', 'provider_server_error', 'ABORTED', '10'],
  [17, 'provider_error', 'unknown_provider_error', null, '99'],
  [18, 'provider_error', 'provider_overloaded', 'UNAVAILABLE', '503'],
  [19, 'provider_error', 'no_provider_detail', null, null],
  [20, 'provider_error', 'no_provider_detail', null, null],
  [21, 'provider_error', 'provider_credential_rejected', 'INVALID_ARGUMENT', '400'],
  [22, 'provider_error', 'unknown_provider_error', null, null],
])('classifies failure %i as %s, %s', (itemNo, failureClass, code, nativeType, nativeCode) => {
  const { result } = decodeItem('generate_content', errors, itemNo);
  expect(result).toMatchObject({ kind: 'failed', class: failureClass, code, nativeType, nativeCode });
  expect(result).toHaveProperty('message', expect.stringMatching(/./));
});

test('a cancelled item is cancelled', () => {
  expect(decodeItem('generate_content', errors, 15).result).toEqual({ kind: 'cancelled' });
});

test('reads a result that the batch itself carried, by its key', () => {
  const response = { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] };
  const line = JSON.stringify({ response, metadata: { key: `${TOKEN}-5` } });
  expect(decodeLine('chat.completions', line)).toMatchObject({
    providerItemId: `${TOKEN}-5`,
    result: { kind: 'completed', body: expect.stringContaining(`"id":"${TOKEN}-5"`) },
  });
});

test('tells lines that cannot be given to an item, and why, and guesses none by its place', () => {
  expect(fixture('unreadable.jsonl').map((line) => decodeLine('generate_content', line))).toEqual([
    { kind: 'unreadable', reason: 'not_json', providerItemId: `${TOKEN}-1` },
    { kind: 'unreadable', reason: 'not_an_object', providerItemId: null },
    { kind: 'unreadable', reason: 'not_an_object', providerItemId: null },
    { kind: 'unreadable', reason: 'not_an_object', providerItemId: null },
    { kind: 'unreadable', reason: 'key_missing', providerItemId: null },
    { kind: 'unreadable', reason: 'key_not_a_string', providerItemId: null },
    { kind: 'unreadable', reason: 'key_missing', providerItemId: null },
    { kind: 'unreadable', reason: 'key_missing', providerItemId: null },
    { kind: 'unreadable', reason: 'key_missing', providerItemId: null },
    { kind: 'unreadable', reason: 'not_json', providerItemId: null },
  ]);
});

test('an id or text that could not be stored is made storable, and is then no id of ours', () => {
  const line = JSON.stringify({ key: 'a\u0000', error: { code: 13, message: 'x\ud83d' } });
  expect(decodeLine('generate_content', line)).toMatchObject({
    providerItemId: 'a\uFFFD',
    result: { message: 'x\uFFFD' },
  });
});

test('never throws, whatever the provider sent', () => {
  const key = fc.constantFrom(
    'response',
    'error',
    'candidates',
    'content',
    'parts',
    'text',
    'functionCall',
    'args',
    'thought',
    'finishReason',
    'usageMetadata',
    'promptTokenCount',
    'promptFeedback',
    'embedding',
    'embeddings',
    'values',
    'code',
    'details',
    '__proto__',
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('STOP', 'SAFETY', 'constructor', null, 0, 3, -1, 1e300, true),
      fc.string(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value')),
    ),
  }));
  const parts = fc.array(fc.dictionary(key, value), { maxLength: 3 });
  const endpoint = fc.constantFrom<Endpoint>('chat.completions', 'generate_content', 'embeddings', 'messages');
  const line = fc.oneof(
    fc.string(),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('utf8')),
    value.map((any) => JSON.stringify(any) ?? ''),
    fc.tuple(value, value).map(([response, error]) => JSON.stringify({ key: 'x', response, error })),
    fc
      .tuple(parts, value)
      .map(([any, finishReason]) =>
        JSON.stringify({ key: 'x', response: { candidates: [{ content: { parts: any }, finishReason }, any] } }),
      ),
  );
  fc.assert(
    fc.property(endpoint, line, (anEndpoint, text) => {
      const decoded = decodeLine(anEndpoint, text);
      if (decoded.kind === 'result' && decoded.result.kind === 'completed') JSON.parse(decoded.result.body);
    }),
    { numRuns: 500 },
  );
});
