import { expect, test } from 'vitest';
import { translateMessages } from './chat-messages.ts';

const text = (value: string) => ({ type: 'text', text: value });
const user = (content: unknown) => ({ role: 'user', content });

/** The blocks of a single user message. */
function translateContent(content: unknown) {
  return translateMessages([user(content)]).messages[0]?.content;
}

test('gathers instructions in order, wherever they stood', () => {
  const translated = translateMessages([
    { role: 'system', content: 'one' },
    user('Hi'),
    { role: 'developer', content: [text('two'), text(''), text('three')] },
    { role: 'assistant', content: 'Hello' },
    { role: 'system', content: '' },
  ]);
  expect(translated).toEqual({
    system: [text('one'), text('two'), text('three')],
    messages: [
      { role: 'user', content: [text('Hi')] },
      { role: 'assistant', content: [text('Hello')] },
    ],
  });
});

test('merges consecutive messages of one role and leaves empty text out', () => {
  const { messages } = translateMessages([
    user('a'),
    { role: 'system', content: 's' },
    user([text('b'), text('')]),
    { role: 'assistant', content: '' },
    user('c'),
    { role: 'assistant', content: [text('d'), { type: 'refusal', refusal: 'e' }], refusal: 'f' },
    { role: 'assistant', content: null, refusal: 'g', annotations: [], audio: null, tool_calls: null },
  ]);
  expect(messages).toEqual([
    { role: 'user', content: [text('a'), text('b'), text('c')] },
    { role: 'assistant', content: [text('d'), text('e'), text('f'), text('g')] },
  ]);
});

test('gives calls after the text, and their answers together in one turn with what the user says next', () => {
  const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'f', arguments: args } });
  const { messages } = translateMessages([
    user('q'),
    { role: 'assistant', content: 'Looking.', tool_calls: [call('c1', '{"a": [1, null]}'), call('c2', ' ')] },
    { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
    { role: 'tool', tool_call_id: 'c2', content: [text('wet'), text('')] },
    { role: 'tool', tool_call_id: 'c3', content: '' },
    user('and?'),
  ]);
  expect(messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: [
        text('Looking.'),
        { type: 'tool_use', id: 'c1', name: 'f', input: { a: [1, null] } },
        { type: 'tool_use', id: 'c2', name: 'f', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: [text('sunny')] },
        { type: 'tool_result', tool_use_id: 'c2', content: [text('wet')] },
        { type: 'tool_result', tool_use_id: 'c3' },
        text('and?'),
      ],
    },
  ]);
});

test.each([
  ['https://x.test/a.png', { type: 'url', url: 'https://x.test/a.png' }],
  ['HTTP://x.test/a', { type: 'url', url: 'HTTP://x.test/a' }],
  ['data:image/png;base64,AAEC', { type: 'base64', media_type: 'image/png', data: 'AAEC' }],
  ['data:image/jpg;base64,AAEC', { type: 'base64', media_type: 'image/jpeg', data: 'AAEC' }],
  ['data:IMAGE/WebP;name=x;BASE64,AAEC', { type: 'base64', media_type: 'image/webp', data: 'AAEC' }],
])('carries the image %s', (url, source) => {
  const blocks = [{ type: 'image', source }];
  expect(translateContent([{ type: 'image_url', image_url: { url } }])).toEqual(blocks);
  expect(translateContent([{ type: 'image_url', image_url: { url, detail: 'auto' } }])).toEqual(blocks);
});

const encoded = Buffer.from('\uFEFFGrüße').toString('base64');

test.each([
  ['JVBERi0=', { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }],
  ['data:application/pdf;base64,JVBERi0=', { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }],
  [`data:text/plain;base64,${encoded}`, { type: 'text', media_type: 'text/plain', data: '\uFEFFGrüße' }],
  [`data:text/csv;charset=UTF-8;base64,${encoded}`, { type: 'text', media_type: 'text/plain', data: '\uFEFFGrüße' }],
])('carries the file %s', (fileData, source) => {
  expect(translateContent([{ type: 'file', file: { file_data: fileData } }])).toEqual([{ type: 'document', source }]);
  expect(translateContent([{ type: 'file', file: { file_data: fileData, filename: 'a.pdf' } }])).toEqual([
    { type: 'document', source, title: 'a.pdf' },
  ]);
});
