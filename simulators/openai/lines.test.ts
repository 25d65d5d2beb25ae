import { expect, test } from 'vitest';
import { readInputLine } from './lines.ts';

const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] };
const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body };
const without = (name: keyof typeof line) => JSON.stringify({ ...line, [name]: undefined });

test('reads a line', () => {
  expect(readInputLine(JSON.stringify(line), '/v1/chat/completions')).toEqual({
    customId: 'a',
    body,
    model: 'gpt-4o-mini',
  });
});

test.for([
  { text: '{', code: 'invalid_json_line', param: null },
  { text: 'null', code: 'invalid_json_line', param: null },
  { text: '[]', code: 'invalid_json_line', param: null },
  { text: '"x"', code: 'invalid_json_line', param: null },
  { text: '3', code: 'invalid_json_line', param: null },
  { text: '\uFFFD', code: 'invalid_json_line', param: null },
  { text: without('custom_id'), code: 'missing_required_parameter', param: 'custom_id' },
  { text: JSON.stringify({ ...line, custom_id: '' }), code: 'missing_required_parameter', param: 'custom_id' },
  { text: JSON.stringify({ ...line, custom_id: 7 }), code: 'invalid_type', param: 'custom_id' },
  { text: without('method'), code: 'missing_required_parameter', param: 'method' },
  { text: JSON.stringify({ ...line, method: 'GET' }), code: 'invalid_method', param: 'method' },
  { text: without('url'), code: 'missing_required_parameter', param: 'url' },
  { text: JSON.stringify({ ...line, url: '/v1/embeddings' }), code: 'url_mismatch', param: 'url' },
  { text: without('body'), code: 'missing_required_parameter', param: 'body' },
  { text: JSON.stringify({ ...line, body: 'text' }), code: 'missing_required_parameter', param: 'body' },
  { text: JSON.stringify({ ...line, body: {} }), code: 'missing_required_parameter', param: 'body.model' },
  {
    text: JSON.stringify({ ...line, body: { ...body, model: 'unknown-1' } }),
    code: 'model_not_found',
    param: 'body.model',
  },
  { text: JSON.stringify({ ...line, body: { ...body, stream: true } }), code: 'invalid_value', param: 'body.stream' },
])('refuses $text with $code', ({ text, code, param }) => {
  expect(readInputLine(text, '/v1/chat/completions')).toMatchObject({ code, param });
});

test.for([
  { content: '\ud83d', isRefused: true },
  { content: '\ude00 later', isRefused: true },
  { content: '\\\ud83d', isRefused: true },
  { content: '😀', isRefused: false },
  { content: 'the escape \\ud83d as text', isRefused: false },
])('treats half a surrogate pair as no JSON: $content refused $isRefused', ({ content, isRefused }) => {
  const text = JSON.stringify({ ...line, body: { ...body, messages: [{ role: 'user', content }] } });
  expect('code' in readInputLine(text.replace('😀', '\\ud83d\\ude00'), '/v1/chat/completions')).toBe(isRefused);
});

test('does not need a model for moderation', () => {
  const text = JSON.stringify({ ...line, url: '/v1/moderations', body: { input: 'hi' } });
  expect(readInputLine(text, '/v1/moderations')).toMatchObject({ model: 'omni-moderation-latest' });
});
