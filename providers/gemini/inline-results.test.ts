import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeLine } from './decode.ts';
import { listInlineResults } from './inline-results.ts';

const NAME = 'batches/qx7k2m9d';

function readFixture(name: string): Buffer {
  return readFileSync(new URL(`./fixtures/batch-${name}.json`, import.meta.url));
}

const linesOf = (reply: Buffer) =>
  Buffer.concat([...listInlineResults(reply, NAME)])
    .toString('utf8')
    .split('\n');

test('makes a line of each result, which decodes by its key and never by its place', () => {
  const lines = linesOf(readFixture('succeeded-inline'));
  expect(lines).toHaveLength(4);
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => decodeLine('chat.completions', line))).toMatchObject([
    {
      providerItemId: 'att01j7q2m5k8-2',
      result: { kind: 'completed', body: expect.stringContaining('second\u2028ä') },
    },
    { providerItemId: 'att01j7q2m5k8-1', result: { kind: 'failed', code: 'provider_server_error' } },
    { kind: 'unreadable', reason: 'key_missing', providerItemId: null },
  ]);
});

test('reads embeddings, from the metadata where the response has none', () => {
  const [line = ''] = linesOf(readFixture('succeeded-inline-embeddings'));
  expect(decodeLine('embeddings', line)).toMatchObject({
    providerItemId: 'att01j7q2m5k8-1',
    result: { kind: 'completed', usage: { inputTokens: '3' } },
  });
});

test('keeps bytes and numbers as they came, also those of a result that is not UTF-8', () => {
  const before = Buffer.from(
    `{"name":"${NAME}","done":true,"response":{"inlinedResponses":{"inlinedResponses":[{"a":1.50,\n"b":"`,
  );
  const reply = Buffer.concat([before, Buffer.from([0xc3, 0x28]), Buffer.from('"}\r\n, {"c": "é"}]}}}')]);
  const bytes = Buffer.concat([...listInlineResults(reply, NAME)]);
  expect(bytes).toEqual(
    Buffer.concat([Buffer.from('{"a":1.50, "b":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}\n{"c": "é"}\n')]),
  );
});

test('a batch without any result has no line', () => {
  const reply = { name: NAME, response: { inlinedResponses: { inlinedResponses: [] } } };
  expect([...listInlineResults(Buffer.from(JSON.stringify(reply)), NAME)]).toEqual([]);
});

test.each([
  ['a page', '<html>'],
  ['a reply cut short', `{"name":"${NAME}","response":{"inlinedResponses":{"inlinedResponses":[{"a"`],
  ['an error object', '{"error":{"code":500,"message":"odd"}}'],
  ['another batch', '{"name":"batches/b2","response":{"inlinedResponses":{"inlinedResponses":[]}}}'],
  ['a batch without results', `{"name":"${NAME}","response":{"responsesFile":"files/x"}}`],
])('does not take %s for results', (_name, reply) => {
  expect(() => [...listInlineResults(Buffer.from(reply), NAME)]).toThrow(
    expect.objectContaining({ code: 'malformed_reply', isRetryable: true }),
  );
});
