import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { FEATURE } from '../../domain/request-features.ts';
import { type ItemRules, readItem } from './item-line.ts';

const RULES: ItemRules = {
  endpoint: 'chat.completions',
  requestDefaults: null,
  allowsEmailLikeIds: false,
  maxRequestBytes: 1000,
};
const REQUEST = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 };

function accepted(value: unknown, rules = RULES) {
  const read = readItem(typeof value === 'string' ? value : JSON.stringify(value), 7, rules);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  return read.item;
}

function faultsOf(value: unknown, rules = RULES) {
  const read = readItem(typeof value === 'string' ? value : JSON.stringify(value), 7, rules);
  if (read.ok) throw new Error('the item was accepted');
  return read.faults.map(({ customId, field, error }) => [customId, field, error]);
}

test('an item is read with its measures', () => {
  const body = JSON.stringify(REQUEST);
  expect(accepted({ custom_id: 'a', request: REQUEST })).toEqual({
    position: 7,
    customId: 'a',
    idempotencyKey: null,
    requestHash: createHash('sha256').update(body).digest('hex'),
    body,
    bodyBytes: body.length,
    requestedModel: null,
    features: 0,
    inputTokens: expect.any(Number),
    maxOutputTokens: 5,
    choices: 1,
    embeddingInputs: 0,
  });
});

test('I-12: the estimate is positive and grows with the request, in every shape', () => {
  const tokens = (content: unknown) =>
    accepted(
      { custom_id: 'a', request: { messages: [{ role: 'user', content }] } },
      { ...RULES, maxRequestBytes: 10_000_000 },
    ).inputTokens;
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'QUJD'.repeat(300_000)}` } };
  expect(tokens('Hi')).toBeGreaterThan(0);
  expect(tokens('Hi '.repeat(1000))).toBeGreaterThan(5 * tokens('Hi '.repeat(100)));
  expect(tokens([image])).toBeGreaterThan(tokens('Hi'));
  for (const input of ['text', ['two', 'texts'], [[1, 2, 3]]]) {
    expect(
      accepted({ custom_id: 'a', request: { input } }, { ...RULES, endpoint: 'embeddings' }).inputTokens,
    ).toBeGreaterThan(0);
  }
});

test('a cap counts for each of the choices asked for', () => {
  expect(accepted({ custom_id: 'a', request: { ...REQUEST, n: 3 } }).maxOutputTokens).toBe(15);
  const { max_tokens: _, ...uncapped } = REQUEST;
  expect(accepted({ custom_id: 'a', request: { ...uncapped, n: 3 } })).toMatchObject({
    maxOutputTokens: null,
    choices: 3,
  });
  expect(accepted({ custom_id: 'a', request: { ...REQUEST, max_tokens: 2 ** 40 } }).maxOutputTokens).toBe(2 ** 31 - 1);
});

test('a request is measured under the defaults of its job, and stored without them', () => {
  const requestDefaults = { messages: [{ role: 'system', content: 'Long rules. '.repeat(50) }], seed: 1 };
  const item = accepted({ custom_id: 'a', request: REQUEST }, { ...RULES, requestDefaults });
  expect(item.body).toBe(JSON.stringify(REQUEST));
  expect(item.inputTokens).toBeGreaterThan(accepted({ custom_id: 'a', request: REQUEST }).inputTokens + 100);
  expect(item.features & FEATURE.SEED).toBe(FEATURE.SEED);
});

test('I-10: what only the provider or the batch would refuse is kept as features for the dry run', () => {
  const featuresOf = (request: object) => accepted({ custom_id: 'a', request }).features;
  expect(featuresOf({ ...REQUEST, stream: true })).toBe(FEATURE.STREAM);
  expect(featuresOf({ ...REQUEST, max_tokens: 'many' }) & FEATURE.MALFORMED).toBe(FEATURE.MALFORMED);
  expect(featuresOf({}) & FEATURE.MALFORMED).toBe(FEATURE.MALFORMED);
});

test('a model of its own is read from the request, null being none', () => {
  expect(accepted({ custom_id: 'a', request: { ...REQUEST, model: 'openai/gpt-4o' } }).requestedModel).toBe(
    'openai/gpt-4o',
  );
  expect(accepted({ custom_id: 'a', request: { ...REQUEST, model: null } }).requestedModel).toBe(null);
});

test('an idempotency key that is the custom id is the default', () => {
  expect(accepted({ custom_id: 'a', request: REQUEST, idempotency_key: 'k' }).idempotencyKey).toBe('k');
  expect(accepted({ custom_id: 'a', request: REQUEST, idempotency_key: 'a' }).idempotencyKey).toBe(null);
  expect(accepted({ custom_id: 'a', request: REQUEST, idempotency_key: null }).idempotencyKey).toBe(null);
});

test('content is compared as JSON: spacing, escapes and spelling of numbers do not count, order and values do', () => {
  const hashOf = (request: string) => accepted(`{"custom_id":"a","request":${request}}`).requestHash;
  const hash = hashOf('{"messages":[],"x":"é\\n","n":1.0}');
  expect(hashOf(' { "messages" : [ ] , "x":"\\u00e9\\u000a", "n": 1e0 } ')).toBe(hash);
  expect(hashOf('{"x":"é\\n","messages":[],"n":1}')).not.toBe(hash);
  expect(hashOf('{"messages":[],"x":"é","n":1}')).not.toBe(hash);
});

test.each([
  ['U+2028, U+2029, U+0085, VT and FF', 'a\u2028b\u2029c\u0085d\\u000be\\u000cf'],
  ['full emoji, raw and escaped', '😀 \\ud83d\\ude00'],
  ['NUL as an escape', 'a\\u0000b'],
  ['a byte order mark and private characters', '\uFEFF\uE000\u{10FFFF}'],
])('I-06: text with %s is kept as it is', (_name, text) => {
  const line = `{"custom_id":"a","request":{"messages":[{"role":"user","content":"${text}"}]}}`;
  const kept = JSON.parse(accepted(line).body);
  expect(kept).toEqual(JSON.parse(line).request);
});

test.each([
  ['null', 'null', [[undefined, undefined, 'invalid_item']]],
  ['[]', '[]', [[undefined, undefined, 'invalid_item']]],
  ['[1,2]', '[1,2]', [[undefined, undefined, 'invalid_item']]],
  ['"x"', '"x"', [[undefined, undefined, 'invalid_item']]],
  ['3', '3', [[undefined, undefined, 'invalid_item']]],
  ['true', 'true', [[undefined, undefined, 'invalid_item']]],
  [
    '{}',
    '{}',
    [
      [undefined, 'custom_id', 'custom_id_missing'],
      [undefined, 'request', 'invalid_item'],
    ],
  ],
  [
    'a body of text',
    '{"custom_id":"k","body":"text"}',
    [
      ['k', 'body', 'invalid_item'],
      ['k', 'request', 'invalid_item'],
    ],
  ],
  ['a request of text', '{"custom_id":"k","request":"text"}', [['k', 'request', 'invalid_item']]],
  ['a request that is a list', '{"custom_id":"k","request":[]}', [['k', 'request', 'invalid_item']]],
  ['a request that is null', '{"custom_id":"k","request":null}', [['k', 'request', 'invalid_item']]],
  ['cut off', '{"custom_id":"k","request":{"a":', [['k', undefined, 'invalid_json']]],
  ['in single quotes', "{'custom_id':'k'}", [[undefined, undefined, 'invalid_json']]],
  ['followed by more', '{"custom_id":"k","request":{}} x', [['k', undefined, 'invalid_json']]],
  [
    'two on one line',
    '{"custom_id":"k","request":{}}{"custom_id":"l","request":{}}',
    [['k', undefined, 'invalid_json']],
  ],
  ['with a raw tab in a string', '{"custom_id":"k","request":{"a":"\t"}}', [['k', undefined, 'invalid_json']]],
  ['with a byte order mark', '\uFEFF{"custom_id":"k","request":{}}', [['k', undefined, 'invalid_json']]],
])('I-03: a line that is %s is refused, by its id where it has one', (_name, line, expected) => {
  expect(faultsOf(line)).toEqual(expected);
});

test('I-03: the line of an OpenAI batch file is told apart, once', () => {
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: REQUEST };
  expect(readItem(JSON.stringify(line), 1, RULES)).toMatchObject({
    faults: [{ customId: 'a', field: 'body', error: 'invalid_item', message: expect.stringContaining('as request') }],
  });
});

test('every unknown member is refused by name, with those that are allowed', () => {
  const read = readItem(JSON.stringify({ custom_id: 'a', request: REQUEST, metadata: {}, customId: 'a' }), 1, RULES);
  expect(read).toMatchObject({ ok: false, faults: [{ field: 'metadata' }, { field: 'customId' }] });
  expect(JSON.stringify(read)).toContain('allowed are custom_id, request, idempotency_key');
});

test.each([
  ['missing', undefined, 'custom_id_missing'],
  ['null', null, 'custom_id_missing'],
  ['a number', 7, 'custom_id_invalid'],
  ['an object', {}, 'custom_id_invalid'],
  ['empty', '', 'custom_id_invalid'],
  ['white space', ' \u00a0\u2003', 'custom_id_invalid'],
  ['too long', 'x'.repeat(513), 'custom_id_invalid'],
  ['with a line break', 'a\nb', 'custom_id_invalid'],
  ['with NUL', 'a\0b', 'custom_id_invalid'],
  ['with DEL', 'a\x7fb', 'custom_id_invalid'],
  ['an e-mail address', 'ann@example.org', 'custom_id_may_be_personal'],
])('I-01: a custom id that is %s is refused', (_name, id, error) => {
  const shown = typeof id === 'string' ? id.slice(0, 512) : undefined;
  expect(faultsOf({ custom_id: id, request: REQUEST })).toEqual([[shown, 'custom_id', error]]);
});

test('I-01: a custom id of 512 code points, and one with an address where the tenant allows it, are accepted as given', () => {
  const ids = ['😀'.repeat(512), ' a ', 'a\\b"c', '..', '%2e%2e/x'];
  for (const id of ids) expect(accepted({ custom_id: id, request: REQUEST }).customId).toBe(id);
  const rules = { ...RULES, allowsEmailLikeIds: true };
  expect(accepted({ custom_id: 'ann@example.org', request: REQUEST }, rules).customId).toBe('ann@example.org');
});

test.each([
  ['empty', ''],
  ['a number', 1],
  ['too long', 'x'.repeat(513)],
  ['with a control character', 'a\u0001'],
  ['an e-mail address', 'ann@example.org'],
])('an idempotency key that is %s is refused under its own name', (_name, key) => {
  const read = readItem(JSON.stringify({ custom_id: 'a', request: REQUEST, idempotency_key: key }), 1, RULES);
  expect(read).toMatchObject({
    faults: [
      {
        customId: 'a',
        field: 'idempotency_key',
        error: 'invalid_item',
        message: expect.stringMatching(/^idempotency_key /),
      },
    ],
  });
});

test.each([
  ['half an emoji in a text', '{"custom_id":"k","request":{"text":"\\ud83d"}}'],
  ['half an emoji in the name of a member', '{"custom_id":"k","request":{"\\ude00":1}}'],
  ['the halves in the wrong order', '{"custom_id":"k","request":{"text":"\\ude00\\ud83d"}}'],
  ['an integer that would change', '{"custom_id":"k","request":{"seed":9007199254740993}}'],
  ['a number no double holds', '{"custom_id":"k","request":{"seed":1e999}}'],
  ['deep nesting', `{"custom_id":"k","request":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`],
])('I-07: %s is refused with the id, for it would not arrive as written', (_name, line) => {
  expect(faultsOf(line)).toEqual([['k', undefined, 'invalid_json']]);
});

test('I-07: half an emoji in an id is refused, and shown repaired', () => {
  const [fault] = faultsOf('{"custom_id":"a\\ud83d","request":{}}');
  expect(fault).toEqual(['a\uFFFD', undefined, 'invalid_json']);
});

test.each([[7], [''], ['  '], ['x'.repeat(201)], ['a\u0000'], [{}]])('a model of %j is refused', (model) => {
  expect(faultsOf({ custom_id: 'a', request: { ...REQUEST, model } })).toEqual([
    ['a', 'request.model', 'invalid_item'],
  ]);
});

test('I-09: a request over the limit is refused with its id, its size and the limit', () => {
  const request = { text: 'é'.repeat(600) };
  const read = readItem(JSON.stringify({ custom_id: 'big', request }), 1, RULES);
  expect(read).toMatchObject({
    faults: [
      {
        customId: 'big',
        field: 'request',
        error: 'request_too_large',
        message: expect.stringMatching(/1211 bytes.*1000/),
      },
    ],
  });
});

test('everything wrong with one item is told at once', () => {
  expect(faultsOf({ custom_id: '', request: { model: 1 }, idempotency_key: '', x: 1 })).toEqual([
    ['', 'x', 'invalid_item'],
    ['', 'custom_id', 'custom_id_invalid'],
    ['', 'idempotency_key', 'invalid_item'],
    ['', 'request.model', 'invalid_item'],
  ]);
});
