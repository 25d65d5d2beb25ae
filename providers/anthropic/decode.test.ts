import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../domain/provider.ts';
import { decodeLine } from './decode.ts';

const TOKEN = '0123456789abcdefghjkmnpqrs';

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

const succeeded = fixture('results-succeeded.jsonl');
const unsuccessful = fixture('results-unsuccessful.jsonl');

test.each([
  [1, 'an answer'],
  [2, 'thinking, separators and text that looks like the end'],
  [3, 'thinking cut by length'],
  [4, 'tool calls'],
  [5, 'a refusal in words'],
  [7, 'an empty answer of its own accord'],
  [10, 'a paused turn'],
  [14, 'numbers beyond a double'],
])('item %i, %s, is completed natively with the message byte for byte', (itemNo) => {
  const { line, result } = decodeItem('messages', succeeded, itemNo);
  if (result.kind !== 'completed') throw new Error(result.kind);
  expect(line).toContain(`"message": ${result.body}}}`);
  expect(JSON.parse(result.body)).toEqual(JSON.parse(line).result.message);
  expect(result.model).toBe('claude-haiku-4-5-20251001');
  expect(result.usage).not.toBeNull();
});

test.each(['messages', 'chat.completions'] as const)('%s: reads usage with the cache included', (endpoint) => {
  expect(decodeItem(endpoint, succeeded, 2).result).toMatchObject({
    kind: 'completed',
    usage: {
      inputTokens: 1200,
      cachedInputTokens: 800,
      cacheWriteTokens: 300,
      longCacheWriteTokens: 200,
      outputTokens: 90,
      reasoningTokens: 64,
    },
  });
});

test.each([12, 13])('item %i has no usage that is known, and still its answer', (itemNo) => {
  expect(decodeItem('messages', succeeded, itemNo).result).toMatchObject({ kind: 'completed', usage: null });
  const { result } = decodeItem('chat.completions', succeeded, itemNo);
  expect(result).toMatchObject({ kind: 'completed', usage: null });
  expect(JSON.parse(result.kind === 'completed' ? result.body : '{}')).not.toHaveProperty('usage');
});

test.each(['messages', 'chat.completions'] as const)(
  '%s: a refusal of which nothing is left is blocked and keeps the usage it was billed for',
  (endpoint) => {
    expect(decodeItem(endpoint, succeeded, 6).result).toMatchObject({
      kind: 'failed',
      class: 'safety_blocked',
      code: 'safety_blocked',
      nativeType: 'refusal',
      nativeCode: 'cyber',
      message: 'The request could enable harm.',
      usage: { inputTokens: 40, outputTokens: 0 },
      body: expect.stringContaining('"msg_01"'),
    });
  },
);

test.each([8, 9, 11])('item %i is succeeded without a complete message, so malformed', (itemNo) => {
  for (const endpoint of ['messages', 'chat.completions'] as const) {
    const { result } = decodeItem(endpoint, succeeded, itemNo);
    expect(result).toMatchObject({ kind: 'failed', class: 'unparseable_result', code: 'malformed_result' });
    if (itemNo === 8) expect(result).not.toHaveProperty('usage');
    else expect(result).toMatchObject({ usage: { inputTokens: 23, outputTokens: 8 } });
  }
});

test.each([
  [1, 'validation', 'invalid_request', 'invalid_request_error'],
  [2, 'provider_error', 'provider_account_exhausted', 'invalid_request_error'],
  [3, 'provider_error', 'provider_account_exhausted', 'billing_error'],
  [4, 'rate_limited', 'rate_limited', 'rate_limit_error'],
  [5, 'provider_error', 'provider_account_exhausted', 'rate_limit_error'],
  [6, 'provider_error', 'provider_overloaded', 'overloaded_error'],
  [7, 'provider_error', 'provider_server_error', 'api_error'],
  [8, 'provider_error', 'provider_timeout', 'timeout_error'],
  [9, 'provider_error', 'provider_credential_rejected', 'authentication_error'],
  [10, 'provider_error', 'provider_credential_rejected', 'permission_error'],
  [11, 'validation', 'model_unavailable', 'not_found_error'],
  [12, 'validation', 'invalid_request', 'not_found_error'],
  [13, 'validation', 'context_too_long', 'invalid_request_error'],
  [14, 'safety_blocked', 'safety_blocked', 'invalid_request_error'],
  [15, 'validation', 'invalid_request', 'request_too_large'],
  [16, 'provider_error', 'unknown_provider_error', 'an_unheard_of_error'],
  [17, 'provider_error', 'no_provider_detail', null],
  [18, 'provider_error', 'no_provider_detail', null],
  [19, 'provider_error', 'provider_overloaded', 'overloaded_error'],
  [20, 'provider_error', 'no_provider_detail', null],
  [21, 'provider_error', 'provider_credential_rejected', 'invalid_request_error'],
  [22, 'provider_error', 'provider_account_exhausted', 'invalid_request_error'],
  [25, 'provider_error', 'no_provider_detail', null],
  [26, 'provider_error', 'no_provider_detail', null],
])('classifies failure %i as %s, %s', (itemNo, failureClass, code, nativeType) => {
  const { result } = decodeItem('chat.completions', unsuccessful, itemNo);
  expect(result).toMatchObject({ kind: 'failed', class: failureClass, code, nativeType, statusCode: null });
  expect(result).toHaveProperty('message', expect.stringMatching(/./));
});

test.each([
  [23, 'cancelled'],
  [24, 'expired'],
])('item %i never ran and is %s', (itemNo, kind) => {
  expect(decodeItem('messages', unsuccessful, itemNo).result).toEqual({ kind });
});

test("keeps the provider's type, code and words, and the error as it was sent", () => {
  expect(decodeItem('messages', unsuccessful, 5).result).toMatchObject({
    nativeType: 'rate_limit_error',
    nativeCode: 'enforced_spend_limit_reached',
    message: 'Spend limit reached.',
    body: expect.stringContaining('"request_id": "req_5"'),
  });
});

test('tells lines that cannot be given to an item, and why', () => {
  expect(fixture('unreadable.jsonl').map((line) => decodeLine('messages', line))).toEqual([
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

test('an id or text that could not be stored is made storable, and is then no id of ours', () => {
  const error = { type: 'error', error: { type: 'api_error', message: 'x\ud83d' } };
  const line = JSON.stringify({ custom_id: 'a\u0000', result: { type: 'errored', error } });
  expect(decodeLine('messages', line)).toMatchObject({ providerItemId: 'a\uFFFD', result: { message: 'x\uFFFD' } });
});

test('never throws, whatever the provider sent', () => {
  const key = fc.constantFrom(
    ...['custom_id', 'result', 'error', 'type', 'message', 'content', 'stop_reason', 'usage', 'text', 'input'],
    ...['id', 'name', 'details', 'error_code', 'stop_details', 'output_tokens_details', 'cache_creation', '__proto__'],
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom('succeeded', 'errored', 'text', 'tool_use', 'refusal', 'end_turn', 'constructor', null, 0, -1),
      fc.string(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value')),
    ),
  }));
  const line = fc.oneof(
    fc.string(),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('utf8')),
    value.map((any) => JSON.stringify(any) ?? ''),
    fc
      .tuple(fc.constantFrom('succeeded', 'errored', 'other'), value, value)
      .map(([type, message, error]) => JSON.stringify({ custom_id: 'x', result: { type, message, error } })),
    fc.tuple(fc.array(value), value).map(([content, rest]) =>
      JSON.stringify({
        custom_id: 'x',
        result: { type: 'succeeded', message: { content, stop_reason: rest, usage: rest } },
      }),
    ),
  );
  fc.assert(
    fc.property(fc.constantFrom<Endpoint>('chat.completions', 'messages', 'embeddings'), line, (endpoint, text) => {
      expect(['result', 'unreadable']).toContain(decodeLine(endpoint, text).kind);
    }),
    { numRuns: 2000 },
  );
});
