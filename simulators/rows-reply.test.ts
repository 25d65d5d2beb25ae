import { expect, test } from 'vitest';
import { rowsReply } from './rows-reply.ts';
import { rowsSchemaOf } from './rows-schema.ts';

function schemaOf(properties: object) {
  const found = rowsSchemaOf({ properties: { rows: { type: 'array', items: { properties } } } });
  if (found === undefined) throw new Error('the schema asks for no rows');
  return found;
}

const SCHEMA = schemaOf({
  vendor: { type: 'string' },
  total: { type: 'string', title: 'Total' },
  page_number: { type: 'integer' },
  confidence_score: { type: 'number' },
});
const TEXT = 'vendor,total\nAcme,12.50\fBolt,7 [[sim:rows=broken]]';

test('gives the rows of a text with their place', () => {
  expect(JSON.parse(rowsReply(SCHEMA, TEXT, undefined))).toEqual({
    rows: [
      { vendor: 'Acme', total: '12.50', page_number: 1, confidence_score: 0.9 },
      { vendor: 'Bolt', total: '7', page_number: 2, confidence_score: 0.9 },
    ],
  });
});

test('fits values to the types that are asked for', () => {
  const schema = schemaOf({
    count: { type: 'integer' },
    share: { type: ['number', 'null'] },
    paid: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    note: { type: 'string' },
    open: { type: 'boolean' },
    sum: { type: 'number' },
  });
  const text = 'count: 3.7 pieces\nopen: yes\nsum: unknown';
  expect(JSON.parse(rowsReply(schema, text, undefined))).toEqual({
    rows: [{ count: 3, share: null, paid: null, note: '', open: true, sum: 0 }],
  });
});

test('gives no rows for a text that has none', () => {
  expect(rowsReply(SCHEMA, 'Dear Sir', undefined)).toBe('{"rows":[]}');
});

test('gives what is no JSON', () => {
  for (const text of [TEXT, '']) {
    expect(() => JSON.parse(rowsReply(SCHEMA, text, { kind: 'broken' }))).toThrow(SyntaxError);
  }
});

test('leaves a column out of every row, however its name is written', () => {
  const rows = (text: string) => JSON.parse(rowsReply(SCHEMA, text, { kind: 'missing', column: 'TOTAL' })).rows;
  expect(rows(TEXT)[1]).toEqual({ vendor: 'Bolt', page_number: 2, confidence_score: 0.9 });
  expect(rows('')).toEqual([{}]);
});

test('gives every row a value of no type that was asked for', () => {
  const rows = (text: string) => JSON.parse(rowsReply(SCHEMA, text, { kind: 'wrong_type' })).rows;
  expect(rows(TEXT)).toHaveLength(2);
  expect(rows(TEXT)[0]).toMatchObject({ vendor: { unexpected: [true] }, total: '12.50' });
  expect(rows('')).toEqual([{ vendor: { unexpected: [true] } }]);
});
