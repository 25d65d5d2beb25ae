import { expect, test } from 'vitest';
import { sampleOfSchema } from './json-sample.ts';

test('fills every property of a schema with a value of its type', () => {
  const schema = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      pages: { type: 'integer', minimum: 1 },
      isSigned: { type: 'boolean' },
      kind: { enum: ['invoice', 'letter'] },
      version: { const: 2 },
      note: { type: ['null', 'string'] },
      nothing: { type: 'null' },
      rows: { type: 'array', minItems: 2, items: { $ref: '#/$defs/row' } },
      either: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    },
    $defs: { row: { type: 'object', properties: { amount: { type: 'number' } } } },
  };
  expect(sampleOfSchema(schema, 'words', 7)).toEqual({
    title: 'words',
    pages: 8,
    isSigned: false,
    kind: 'letter',
    version: 2,
    note: 'words',
    nothing: null,
    rows: [{ amount: 7 }, { amount: 7 }],
    either: 7,
  });
});

test('ends for a schema that contains itself', () => {
  const schema = { type: 'object', properties: { child: { $ref: '#' } } };
  expect(JSON.stringify(sampleOfSchema(schema, 'words', 1)).endsWith('null}}}}}}}')).toBe(true);
});
