import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DocumentColumn } from './document.ts';
import { extractionSchema, keyColumns } from './extraction-schema.ts';

function column(name: string, more: Partial<DocumentColumn> = {}): DocumentColumn {
  return { name, description: null, type: 'text', required: false, ...more };
}

test.for([
  ['total', 'total'],
  ['Total amount', 'total_amount'],
  ['Größe (m²)', 'gro_e_m2'],
  ['Société', 'societe'],
  ['2026', 'column_2026'],
  ['金額', 'column'],
  ['confidence_score', 'confidence_score_2'],
  ['Page number', 'page_number_2'],
  ['x'.repeat(100), 'x'.repeat(40)],
])('keys the column %s as %s', ([name = '', key = '']) => {
  expect(keyColumns([column(name)])).toEqual([{ ...column(name), key }]);
});

test('tells columns apart whose names give the same key', () => {
  const keys = keyColumns([column('a b'), column('a-b'), column('a_b_2'), column('額'), column('金')]).map(
    ({ key }) => key,
  );
  expect(keys).toEqual(['a_b', 'a_b_2', 'a_b_2_2', 'column', 'column_2']);
});

test('gives any columns distinct keys that every provider takes', () => {
  const names = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }), { maxLength: 60 });
  fc.assert(
    fc.property(names, (given) => {
      const keys = keyColumns(given.map((name) => column(name))).map(({ key }) => key);
      expect(new Set(keys).size).toBe(given.length);
      for (const key of keys) expect(key).toMatch(/^[a-z][a-z0-9_]{0,63}$/);
    }),
  );
});

test('asks for an object of rows with every member required and no others', () => {
  const columns = [
    column('Vendor', { required: true }),
    column('total', { type: 'currency', description: 'With tax.' }),
  ];
  expect(extractionSchema(columns)).toEqual({
    type: 'object',
    properties: {
      rows: {
        type: 'array',
        description: expect.any(String),
        items: {
          type: 'object',
          properties: {
            vendor: {
              type: 'string',
              title: 'Vendor',
              description: 'Text exactly as it stands in the document. Every row has it.',
            },
            total: {
              type: 'string',
              title: 'total',
              description: expect.stringMatching(
                /^With tax\. An amount .* Empty where the document does not have it\.$/,
              ),
            },
            page_number: { type: 'integer', description: expect.any(String) },
            confidence_score: { type: 'number', description: expect.any(String) },
          },
          required: ['vendor', 'total', 'page_number', 'confidence_score'],
          additionalProperties: false,
        },
      },
    },
    required: ['rows'],
    additionalProperties: false,
  });
});

test('uses only keywords that the structured output of every provider compiles', () => {
  const known = ['type', 'properties', 'required', 'additionalProperties', 'items', 'description', 'title'];
  const visit = (schema: unknown): void => {
    const { properties = {}, items, ...rest } = schema as { properties?: object; items?: unknown };
    expect([...Object.keys(rest), 'properties', 'items'].filter((keyword) => !known.includes(keyword))).toEqual([]);
    expect(typeof (schema as { type: unknown }).type).toBe('string');
    for (const inner of Object.values(properties)) visit(inner);
    if (items !== undefined) visit(items);
  };
  visit(extractionSchema([column('a'), column('b', { type: 'date' })]));
});
