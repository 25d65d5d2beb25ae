import { expect, test } from 'vitest';
import type { EncodableItem } from '../provider.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { encodeItem } from './encode.ts';

const request = { model: 'an-alias', max_tokens: 5, messages: [{ role: 'user', content: 'Hi\nthere' }] };
const item: EncodableItem = {
  providerItemId: 'att-1',
  endpoint: 'messages',
  model: 'claude-haiku-4-5',
  request,
  defaultMaxOutputTokens: 700,
};

test("passes a native request on with the provider's own model name", () => {
  const line = encodeItem({ ...item, request: { ...request, temperature: 1, stream: false } }, '2026-10-21');
  expect(line).not.toContain('\n');
  expect(JSON.parse(line)).toEqual({
    custom_id: 'att-1',
    params: { ...request, model: 'claude-haiku-4-5', temperature: 1, stream: false },
  });
});

test('translates a chat completion', () => {
  const line = encodeItem(
    { ...item, endpoint: 'chat.completions', request: { messages: request.messages } },
    '2026-10-21',
  );
  expect(JSON.parse(line)).toEqual({
    custom_id: 'att-1',
    params: {
      model: 'claude-haiku-4-5',
      max_tokens: 700,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi\nthere' }] }],
    },
  });
});

test.each(['messages', 'chat.completions'] as const)('%s: refuses a stream with its field', (endpoint) => {
  const streaming = { ...item, endpoint, request: { ...request, stream: true } };
  expect(() => encodeItem(streaming, '2026-10-21')).toThrow(UntranslatableRequest);
  expect(() => encodeItem(streaming, '2026-10-21')).toThrow(expect.objectContaining({ field: 'request.stream' }));
});

test.each(['messages', 'chat.completions'] as const)(
  '%s: escapes what some readers take for a line end, without changing the text',
  (endpoint) => {
    const content = 'a\u2028b\u2029c\u0085d\u000be\u000cf😀';
    const line = encodeItem({ ...item, endpoint, request: { messages: [{ role: 'user', content }] } }, '2026-10-21');
    for (const separator of ['\u2028', '\u2029', '\u0085', '\u000b', '\u000c']) expect(line).not.toContain(separator);
    expect(JSON.stringify(JSON.parse(line))).toContain(JSON.stringify(content));
  },
);

test('keeps every member of a native request, whatever its name', () => {
  const odd: Record<string, unknown> = JSON.parse('{"__proto__": {"a": 1}, "stream": false}');
  expect(encodeItem({ ...item, request: odd }, '2026-10-21')).toContain('"__proto__":{"a":1},"stream":false');
});

test.each(['responses', 'generate_content', 'embeddings', 'moderations'] as const)(
  'has no endpoint for %s',
  (endpoint) => {
    expect(() => encodeItem({ ...item, endpoint }, '2026-10-21')).toThrow(
      expect.objectContaining({ code: 'rejected', mayHaveActed: false }),
    );
  },
);
