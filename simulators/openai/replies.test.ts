import { expect, test } from 'vitest';
import { parseDirectives } from '../directives.ts';
import type { Item } from './item.ts';
import { type Endpoint, promptOf } from './prompt.ts';
import { replyTo } from './replies.ts';

const CONTEXT = { now: 1_700_000_000_000, embeddingDimensions: 8, idSeed: 'batch/item' };

function item(endpoint: Endpoint, body: Record<string, unknown>): Item {
  const prompt = promptOf(endpoint, body);
  const directives = parseDirectives(prompt) ?? {};
  return { endpoint, body: { model: 'gpt-4o-mini', ...body }, prompt, material: prompt, directives };
}

function chat(content: string, more: Record<string, unknown> = {}) {
  return replyTo(item('/v1/chat/completions', { messages: [{ role: 'user', content }], ...more }), CONTEXT);
}

function response(input: unknown, more: Record<string, unknown> = {}) {
  return replyTo(item('/v1/responses', { input, ...more }), CONTEXT);
}

test('answers the same prompt with the same text, and another with another', () => {
  expect(chat('one')).toEqual(chat('one'));
  expect(chat('one').body).not.toEqual(chat('two').body);
});

test.each([
  ['gpt-5.6-luna', 400],
  ['gpt-6.2-sol', 400],
  ['o4-mini', 400],
  ['gpt-4o-mini', 200],
  ['gpt-4.1', 200],
])('%s answers a chat with max_tokens with %d, and with max_completion_tokens as any', (model, status) => {
  expect(chat('one', { model, max_tokens: 9 }).status).toBe(status);
  expect(chat('one', { model, max_completion_tokens: 9 }).status).toBe(200);
});

test('reports the usage a prompt asks for, cached tokens included in the input', () => {
  expect(chat('[[sim:usage=1000,800,100]][[sim:cache_write=30]][[sim:reasoning=40]]')).toMatchObject({
    usage: { input: 1000, cached: 800, output: 100 },
    body: {
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 100,
        total_tokens: 1100,
        prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 40 },
      },
    },
  });
  expect(response('[[sim:usage=7,5]]').body).toMatchObject({
    usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12, input_tokens_details: { cached_tokens: 0 } },
  });
});

test('leaves usage out, or gives it an unknown shape', () => {
  expect(chat('[[sim:usage=none]]').body).not.toHaveProperty('usage');
  expect(chat('[[sim:usage=alien]]').body).toHaveProperty('usage.units_read');
});

test('counts about four characters to a token', () => {
  expect(chat('x'.repeat(400)).usage.input).toBe(100);
});

test('says the text a prompt asks for, as long as it asks', () => {
  expect(chat('[[sim:text=a\u2028b]]').body).toMatchObject({ choices: [{ message: { content: 'a\u2028b' } }] });
  expect(response('[[sim:text=abc]][[sim:chars=10]]').body).toMatchObject({
    output: [{ content: [{ text: 'abc abc ab' }] }],
  });
});

test('stops at the token limit', () => {
  expect(chat('[[sim:text=four score and seven]]', { max_tokens: 2 }).body).toMatchObject({
    choices: [{ finish_reason: 'length', message: { content: 'four sco' } }],
    usage: { completion_tokens: 2 },
  });
  expect(response('[[sim:chars=99]]', { max_output_tokens: 2 }).body).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  });
});

test('blocks a prompt marked unsafe', () => {
  expect(chat('[[sim:safety]]').body).toMatchObject({
    choices: [{ finish_reason: 'content_filter', message: { content: '' } }],
  });
  expect(response('[[sim:safety]]').body).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'content_filter' },
    output: [],
  });
  const moderation = replyTo(item('/v1/moderations', { input: '[[sim:safety]]' }), CONTEXT);
  expect(moderation.body).toMatchObject({ results: [{ flagged: true, categories: { violence: true, hate: false } }] });
});

test.for([
  { mark: 'error=server_error', status: 500, error: { type: 'server_error' } },
  { mark: 'error=rate_limit', status: 429, error: { code: 'rate_limit_exceeded' } },
  { mark: 'error=insufficient_quota', status: 429, error: { type: 'insufficient_quota' } },
  { mark: 'error=overloaded', status: 503, error: { code: 'server_is_overloaded' } },
  { mark: 'invalid', status: 400, error: { type: 'invalid_request_error', param: 'messages' } },
  { mark: 'error=nonsense', status: 400, error: { message: expect.stringContaining('nonsense') } },
  { mark: 'nonsense', status: 400, error: { message: expect.stringContaining('nonsense') } },
])('answers $mark with $status', ({ mark, status, error }) => {
  expect(chat(`[[sim:${mark}]]`)).toMatchObject({ status, body: { error }, usage: { input: 0, output: 0 } });
});

test('refuses a request without input', () => {
  expect(replyTo(item('/v1/chat/completions', {}), CONTEXT)).toMatchObject({
    status: 400,
    body: { error: { code: 'missing_required_parameter', param: 'messages' } },
  });
});

test('answers in the JSON a request wants', () => {
  const schema = { type: 'object', properties: { total: { type: 'number' }, names: { type: 'array' } } };
  const asChat = chat('x', { response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } });
  const asResponse = response('x', { text: { format: { type: 'json_schema', name: 'n', schema } } });
  const content = (asChat.body as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? '';
  expect(Object.keys(JSON.parse(content))).toEqual(['total', 'names']);
  expect(JSON.stringify(asResponse.body)).toContain('\\"total\\"');
});

test.for([
  { input: 'one', count: 1 },
  { input: ['one', 'two'], count: 2 },
  { input: [1, 2, 3], count: 1 },
  { input: [[1, 2], [3]], count: 2 },
])('embeds $input as $count unit vectors of the default dimension', ({ input, count }) => {
  const reply = replyTo(item('/v1/embeddings', { input }), CONTEXT);
  const { data } = reply.body as { data: { embedding: number[]; index: number }[] };
  expect(data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
  for (const { embedding } of data) {
    expect(embedding).toHaveLength(8);
    expect(Math.hypot(...embedding)).toBeCloseTo(1);
  }
});

test('counts token input by its tokens', () => {
  expect(replyTo(item('/v1/embeddings', { input: [[1, 2], [3]] }), CONTEXT).usage.input).toBe(3);
});

test('completes each prompt given', () => {
  const reply = replyTo(item('/v1/completions', { prompt: ['one', 'two'] }), CONTEXT);
  expect(reply.body).toMatchObject({ object: 'text_completion', choices: [{ index: 0 }, { index: 1 }] });
});
