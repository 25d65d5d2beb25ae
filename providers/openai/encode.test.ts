import { expect, test } from 'vitest';
import { encodeItem, mapEndpoint } from './encode.ts';

const item = {
  providerItemId: 'att-1',
  endpoint: 'chat.completions',
  model: 'gpt-4.1-mini',
  defaultMaxOutputTokens: 100,
} as const;

test("writes one request line with the provider's own model name", () => {
  const request = { model: 'analysis-large', messages: [{ role: 'user', content: 'Hi\nthere' }] };
  const line = encodeItem({ ...item, request });
  expect(line).not.toContain('\n');
  expect(JSON.parse(line)).toEqual({
    custom_id: 'att-1',
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hi\nthere' }] },
  });
});

test('escapes what some readers take for a line end, without changing the text', () => {
  const content = 'a\u2028b\u2029c\u0085d\u000be\u000cf😀';
  const line = encodeItem({ ...item, request: { input: content } });
  for (const separator of ['\u2028', '\u2029', '\u0085', '\u000b', '\u000c']) expect(line).not.toContain(separator);
  expect(JSON.parse(line).body.input).toBe(content);
});

test('keeps every member of the request, whatever its name', () => {
  const request: Record<string, unknown> = JSON.parse('{"__proto__": {"a": 1}, "stream": false}');
  expect(encodeItem({ ...item, request })).toContain('"__proto__":{"a":1},"stream":false');
});

test.each([
  ['chat.completions', '/v1/chat/completions'],
  ['responses', '/v1/responses'],
  ['embeddings', '/v1/embeddings'],
  ['moderations', '/v1/moderations'],
] as const)('maps %s to %s', (endpoint, path) => {
  expect(mapEndpoint(endpoint, '/v1')).toBe(path);
});

test('refuses an endpoint OpenAI does not have before anything is sent', () => {
  expect(() => mapEndpoint('messages', '/v1')).toThrow(
    expect.objectContaining({ code: 'rejected', mayHaveActed: false }),
  );
});

test("writes another provider's own path before the endpoint", () => {
  expect(JSON.parse(encodeItem({ ...item, request: {} }, { pathPrefix: '', isOpenAi: false })).url).toBe(
    '/chat/completions',
  );
});

test.each([
  [{ max_tokens: 20 }, true, { max_completion_tokens: 20 }],
  [{ max_tokens: 20, max_completion_tokens: 20 }, true, { max_completion_tokens: 20 }],
  [{ max_completion_tokens: 20 }, true, { max_completion_tokens: 20 }],
  // A contradiction is OpenAI's to judge.
  [{ max_tokens: 20, max_completion_tokens: 10 }, true, { max_tokens: 20, max_completion_tokens: 10 }],
  [{ max_tokens: 20 }, false, { max_tokens: 20 }],
])('%j of a chat, to OpenAI itself: %s, is sent as %j', (request, isOpenAi, sent) => {
  const { body } = JSON.parse(encodeItem({ ...item, request }, { pathPrefix: '/v1', isOpenAi }));
  expect(body).toEqual({ ...sent, model: 'gpt-4.1-mini' });
});
