import { readFileSync } from 'node:fs';
import fc from 'fast-check';
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

const chat = fixture('output-chat-completions.jsonl');
const responses = fixture('output-responses.jsonl');
const errors = fixture('errors.jsonl');

test.each([
  [1, 'an answer'],
  [2, 'an answer with separators, escapes and a decoy key'],
  [3, 'an empty answer cut by length'],
  [4, 'a tool call'],
  [5, 'a refusal'],
  [6, 'a filtered answer of which a part is left'],
])('item %i, %s, is completed with the body byte for byte', (itemNo) => {
  const { line, result } = decodeItem('chat.completions', chat, itemNo);
  if (result.kind !== 'completed') throw new Error(result.kind);
  expect(line).toContain(`"body": ${result.body}}, "error": null}`);
  expect(JSON.parse(result.body)).toEqual(JSON.parse(line).response.body);
  expect(result.model).toBe('gpt-4.1-mini-2025-04-14');
  expect(result.usage).not.toBeNull();
});

test('reads cached and reasoning tokens of a chat completion', () => {
  expect(decodeItem('chat.completions', chat, 2).result).toMatchObject({
    usage: { inputTokens: 1200, cachedInputTokens: 1024, outputTokens: 90, reasoningTokens: 64 },
  });
});

test('a completion without usage has none, and one with the names of another endpoint has its own', () => {
  expect(decodeItem('chat.completions', chat, 8).result).toMatchObject({ kind: 'completed', usage: null });
  expect(decodeItem('chat.completions', chat, 9).result).toMatchObject({ usage: { inputTokens: 40, outputTokens: 6 } });
});

test('a filtered answer of which nothing is left is blocked and keeps the usage it was billed for', () => {
  expect(decodeItem('chat.completions', chat, 7).result).toMatchObject({
    kind: 'failed',
    class: 'safety_blocked',
    code: 'safety_blocked',
    nativeCode: 'content_filter',
    statusCode: 200,
    usage: { inputTokens: 23, outputTokens: 4 },
    body: expect.stringContaining('chatcmpl-7'),
  });
});

test('status 200 with an empty or incomplete body is a malformed result, with usage if it reports any', () => {
  const empty = decodeItem('chat.completions', chat, 10).result;
  expect(empty).toMatchObject({
    kind: 'failed',
    class: 'unparseable_result',
    code: 'malformed_result',
    statusCode: 200,
  });
  expect(empty).not.toHaveProperty('usage');
  expect(decodeItem('chat.completions', chat, 11).result).toMatchObject({
    code: 'malformed_result',
    usage: { inputTokens: 23, outputTokens: 0 },
  });
});

test.each([
  [
    1,
    {
      kind: 'completed',
      usage: { inputTokens: 36, cachedInputTokens: 12, cacheWriteTokens: 8, outputTokens: 87, reasoningTokens: 64 },
    },
  ],
  [2, { kind: 'completed' }],
  [3, { class: 'safety_blocked', usage: { inputTokens: 36, outputTokens: 87 } }],
  [4, { class: 'provider_error', code: 'provider_server_error', nativeCode: 'server_error' }],
  [5, { class: 'safety_blocked', nativeCode: 'invalid_prompt' }],
  [6, { class: 'unparseable_result', code: 'malformed_result' }],
  [7, { kind: 'completed' }],
  [8, { class: 'safety_blocked', nativeCode: 'image_content_policy_violation' }],
])('classifies response object %i', (itemNo, expected) => {
  expect(decodeItem('responses', responses, itemNo).result).toMatchObject(expected);
});

test('an embedding keeps its numbers as written and has no output', () => {
  const lines = fixture('output-embeddings.jsonl');
  const { result } = decodeItem('embeddings', lines, 1);
  expect(result).toMatchObject({
    kind: 'completed',
    usage: { inputTokens: 8, outputTokens: 0 },
    body: expect.stringContaining('-1e-07'),
  });
  expect(decodeItem('embeddings', lines, 2).result).toMatchObject({ code: 'malformed_result' });
});

test('a moderation used nothing and is known to be free', () => {
  const lines = fixture('output-moderations.jsonl');
  expect(decodeItem('moderations', lines, 1).result).toMatchObject({
    kind: 'completed',
    usage: { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 },
  });
  expect(decodeItem('moderations', lines, 2).result).toMatchObject({ code: 'malformed_result' });
});

test.each([
  [1, 'validation', 'invalid_request', 'invalid_value'],
  [2, 'validation', 'context_too_long', 'context_length_exceeded'],
  [3, 'rate_limited', 'rate_limited', 'rate_limit_exceeded'],
  [4, 'provider_error', 'provider_account_exhausted', 'insufficient_quota'],
  [5, 'provider_error', 'provider_account_exhausted', 'billing_hard_limit_reached'],
  [6, 'safety_blocked', 'safety_blocked', 'content_policy_violation'],
  [7, 'safety_blocked', 'safety_blocked', 'content_filter'],
  [8, 'provider_error', 'provider_server_error', null],
  [9, 'provider_error', 'provider_overloaded', 'server_is_overloaded'],
  [10, 'provider_error', 'provider_timeout', null],
  [11, 'provider_error', 'provider_credential_rejected', 'invalid_api_key'],
  [12, 'validation', 'model_unavailable', 'model_not_found'],
  [13, 'validation', 'model_unavailable', 'model_not_found'],
  [14, 'provider_error', 'provider_credential_rejected', null],
  [18, 'provider_error', 'no_provider_detail', null],
  [19, 'provider_error', 'no_provider_detail', null],
  [20, 'provider_error', 'no_provider_detail', null],
  [21, 'provider_error', 'unknown_provider_error', 'an_unheard_of_code'],
  [22, 'provider_error', 'provider_server_error', null],
  [23, 'safety_blocked', 'safety_blocked', 'invalid_prompt'],
  [24, 'provider_error', 'provider_account_exhausted', 'organization_spend_limit_exceeded'],
  [25, 'validation', 'invalid_request', null],
])('classifies failure %i as %s, %s', (itemNo, failureClass, code, nativeCode) => {
  const { result } = decodeItem('chat.completions', errors, itemNo);
  expect(result).toMatchObject({ kind: 'failed', class: failureClass, code, nativeCode });
  expect(result).toHaveProperty('message', expect.stringMatching(/./));
});

test.each([
  [15, 'expired'],
  [16, 'cancelled'],
  [17, 'cancelled'],
])('item %i never ran and is %s', (itemNo, kind) => {
  expect(decodeItem('chat.completions', errors, itemNo).result).toEqual({ kind });
});

test("keeps the provider's type, code and words", () => {
  expect(decodeItem('chat.completions', errors, 4).result).toMatchObject({
    nativeType: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
    statusCode: 429,
  });
});

test('tells lines that cannot be given to an item, and why', () => {
  expect(fixture('unreadable.jsonl').map((line) => decodeLine('chat.completions', line))).toEqual([
    { kind: 'unreadable', reason: 'not_json', providerItemId: `${TOKEN}-1` },
    { kind: 'unreadable', reason: 'not_json', providerItemId: `${TOKEN}-1` },
    { kind: 'unreadable', reason: 'not_an_object', providerItemId: null },
    { kind: 'unreadable', reason: 'not_an_object', providerItemId: null },
    { kind: 'unreadable', reason: 'not_an_object', providerItemId: null },
    { kind: 'unreadable', reason: 'not_an_object', providerItemId: null },
    { kind: 'unreadable', reason: 'custom_id_missing', providerItemId: null },
    { kind: 'unreadable', reason: 'custom_id_not_a_string', providerItemId: null },
    { kind: 'unreadable', reason: 'custom_id_missing', providerItemId: null },
    { kind: 'unreadable', reason: 'custom_id_missing', providerItemId: null },
    { kind: 'unreadable', reason: 'not_json', providerItemId: null },
  ]);
});

test('a status as text, or none beside a whole body, is read', () => {
  const body = { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] };
  const line = (response: object) => JSON.stringify({ custom_id: 'a', response });
  expect(decodeLine('chat.completions', line({ status_code: '200', body }))).toMatchObject({
    result: { kind: 'completed' },
  });
  expect(decodeLine('chat.completions', line({ body }))).toMatchObject({ result: { kind: 'completed' } });
  expect(decodeLine('chat.completions', line({ status_code: '429', body: {} }))).toMatchObject({
    result: { class: 'rate_limited' },
  });
});

test('an id or text that could not be stored is made storable, and is then no id of ours', () => {
  const line = JSON.stringify({
    custom_id: 'a\u0000',
    response: { status_code: 500, body: { error: { message: 'x\ud83d' } } },
  });
  expect(decodeLine('chat.completions', line)).toMatchObject({
    providerItemId: 'a\uFFFD',
    result: { message: 'x\uFFFD' },
  });
});

test('never throws, whatever the provider sent', () => {
  const key = fc.constantFrom(
    'custom_id',
    'response',
    'error',
    'body',
    'status_code',
    'choices',
    'message',
    'usage',
    'code',
    'output',
    'status',
    '__proto__',
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom('completed', 'constructor', 'batch_expired', null, 200, 0, -1, 1e300, true),
      fc.string(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value')),
    ),
  }));
  const endpoint = fc.constantFrom<Endpoint>('chat.completions', 'responses', 'embeddings', 'moderations', 'messages');
  const line = fc.oneof(
    fc.string(),
    value.map((any) => JSON.stringify(any) ?? ''),
    fc
      .tuple(value, value)
      .map(([body, error]) => JSON.stringify({ custom_id: 'x', response: { status_code: 200, body }, error })),
  );
  fc.assert(
    fc.property(endpoint, line, (anEndpoint, text) => {
      expect(['result', 'unreadable']).toContain(decodeLine(anEndpoint, text).kind);
    }),
    { numRuns: 2000 },
  );
});
