import { expect, test } from 'vitest';
import { createPath, encodeItem } from './encode.ts';

const item = {
  providerItemId: 'att-1',
  endpoint: 'generate_content',
  model: 'gemini-2.5-flash',
  defaultMaxOutputTokens: 100,
} as const;

test('writes one request line, the native request as it is but for the model', () => {
  const request = {
    model: 'analysis-large',
    contents: [{ parts: [{ text: 'Hi\nthere' }] }],
    generation_config: { top_k: 4 },
  };
  const line = encodeItem({ ...item, request });
  expect(line).not.toContain('\n');
  expect(JSON.parse(line)).toEqual({
    key: 'att-1',
    request: { contents: [{ parts: [{ text: 'Hi\nthere' }] }], generation_config: { top_k: 4 } },
  });
});

test('translates a neutral request, which names no model either', () => {
  const request = { model: 'analysis-large', messages: [{ role: 'user', content: 'Hi' }] };
  expect(JSON.parse(encodeItem({ ...item, endpoint: 'chat.completions', request }))).toEqual({
    key: 'att-1',
    request: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  });
});

test('escapes what some readers take for a line end, without changing the text', () => {
  const text = 'a\u2028b\u2029c\u0085d\u000be\u000cf😀';
  const line = encodeItem({ ...item, request: { contents: [{ parts: [{ text }] }] } });
  for (const separator of ['\u2028', '\u2029', '\u0085', '\u000b', '\u000c']) expect(line).not.toContain(separator);
  expect(JSON.parse(line).request.contents[0].parts[0].text).toBe(text);
});

test('keeps every member of a native request, whatever its name', () => {
  const request: Record<string, unknown> = JSON.parse('{"__proto__": {"a": 1}, "contents": []}');
  expect(encodeItem({ ...item, request })).toContain('"__proto__":{"a":1},"contents":[]');
});

test.each([
  ['generate_content', 'gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash:batchGenerateContent'],
  ['chat.completions', 'models/gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash:batchGenerateContent'],
  ['chat.completions', 'tunedModels/mine-1', '/v1beta/tunedModels/mine-1:batchGenerateContent'],
  ['embeddings', 'gemini-embedding-001', '/v1beta/models/gemini-embedding-001:asyncBatchEmbedContent'],
] as const)('%s on %s is created at %s', (endpoint, model, path) => {
  expect(createPath(endpoint, model)).toBe(path);
});

test.each([
  ['responses', 'gemini-2.5-flash'],
  ['messages', 'gemini-2.5-flash'],
  ['generate_content', '../files'],
  ['generate_content', 'models/../x'],
  ['generate_content', 'a b?c=d'],
] as const)('refuses %s on %s before anything is sent', (endpoint, model) => {
  expect(() => createPath(endpoint, model)).toThrow(expect.objectContaining({ code: 'rejected', mayHaveActed: false }));
});
