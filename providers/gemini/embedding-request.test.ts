import { expect, test } from 'vitest';
import { toEmbedContent } from './embedding-request.ts';

test.each([
  [{ input: 'a' }, { content: { parts: [{ text: 'a' }] } }],
  [{ input: ['a'], model: 'alias', user: null }, { content: { parts: [{ text: 'a' }] } }],
  [
    { input: 'a', dimensions: 256, encoding_format: 'float' },
    { content: { parts: [{ text: 'a' }] }, outputDimensionality: 256 },
  ],
])('translates %j', (request, expected) => {
  expect(toEmbedContent(request)).toEqual(expected);
});

test.each([
  [{ input: ['a', 'b'] }, 'request.input'],
  [{ input: [1, 2] }, 'request.input'],
  [{ input: [[1, 2]] }, 'request.input'],
  [{ input: [] }, 'request.input'],
  [{}, 'request.input'],
  [{ input: 'a', encoding_format: 'base64' }, 'request.encoding_format'],
  [{ input: 'a', dimensions: '8' }, 'request.dimensions'],
  [{ input: 'a', user: 'u' }, 'request.user'],
  [{ input: 'a', task_type: 'QUERY' }, 'request.task_type'],
])('refuses %j at %s', (request, field) => {
  expect(() => toEmbedContent(request)).toThrow(expect.objectContaining({ name: 'UntranslatableRequest', field }));
});
