import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ColumnType, DocumentColumn } from '../domain/document.ts';
import { extractionSchema, keyColumns } from '../domain/extraction-schema.ts';
import type { CellValue } from '../domain/line-item.ts';
import { readDocumentRows } from './document-rows.ts';

function column(name: string, more: Partial<DocumentColumn> = {}): DocumentColumn {
  return { name, description: null, type: 'text', required: false, ...more };
}

const VENDOR = column('Vendor', { required: true });
const TOTAL = column('total', { type: 'currency' });

/** A reply of one row, its members as they are written in JSON. */
function reply(...members: string[]): string {
  return `{"rows":[{${members.join(',')}}]}`;
}

/** The one value of a column of this type, or the reason why it is refused. */
function read(type: ColumnType, json: string, more: Partial<DocumentColumn> = {}): CellValue | { reason: string } {
  const result = readDocumentRows(reply(`"a":${json}`), [column('a', { type, ...more })]);
  if (result.ok) return result.rows[0]?.['a'] ?? null;
  expect(result.problems).toEqual([{ path: 'rows[0].a', reason: expect.any(String) }]);
  return { reason: result.problems[0]?.reason ?? '' };
}

test('reads rows under the names of the columns, with where each stands', () => {
  const text = `{"rows":[
    {"vendor":" Acme ","total":"12.50","page_number":2,"confidence_score":0.9,"note":"dropped"},
    {"vendor":"Bolt","total":"","page_number":0,"confidence_score":1}]}`;
  expect(readDocumentRows(text, [VENDOR, TOTAL])).toEqual({
    ok: true,
    rows: [
      { Vendor: 'Acme', total: '12.50' },
      { Vendor: 'Bolt', total: null },
    ],
    provenance: [
      { page: 2, confidence: 0.9 },
      { page: null, confidence: 1 },
    ],
  });
});

test('takes a document that has no rows', () => {
  expect(readDocumentRows('{"rows":[]}', [VENDOR])).toEqual({ ok: true, rows: [], provenance: [] });
});

test.for([
  '{"rows":[{"vendor":"A"}]}',
  '\ufeff {"rows":[{"vendor":"A"}]} \n',
  '```json\n{"rows":[{"vendor":"A"}]}\n```',
  'Here you are:\n\n```\n{"rows":[{"vendor":"A"}]}\n```\nAnything else?',
  '[{"vendor":"A"}]',
  '{"rows":[{"Vendor":"A"}]}',
  '{"rows":[{"vendor":"A","page_number":"2","confidence_score":95}]}',
  '{"rows":[{"vendor":"A","page_number":-1,"confidence_score":null}]}',
])('reads %s', (text) => {
  const provenance = [{ page: null, confidence: null }];
  expect(readDocumentRows(text, [VENDOR])).toEqual({ ok: true, rows: [{ Vendor: 'A' }], provenance });
});

test.for([
  { text: '', reason: 'is empty' },
  { text: 'I cannot read it.', reason: 'is not valid JSON' },
  { text: '{"rows":[{"vendor":"A"', reason: 'is not valid JSON' },
  { text: '```json\n{}\n```\n```json\n{}\n```', reason: 'must be one JSON object, and has more than one block' },
  { text: '{"lines":[]}', reason: 'must be an object with a list "rows"' },
  { text: '{"rows":{}}', reason: 'must be an object with a list "rows"' },
  { text: '12', reason: 'must be an object with a list "rows"' },
  { text: `${'['.repeat(5_000)}`, reason: 'is nested too deep' },
])('refuses the reply $text', ({ text, reason }) => {
  expect(readDocumentRows(text, [VENDOR])).toEqual({ ok: false, problems: [{ path: '', reason }] });
});

test('tells of every value that does not fit, by its place and never by itself', () => {
  const text = '{"rows":[{"vendor":"","total":"secret"},"secret",7,{"vendor":["secret"]},{"total":{"a":1}}]}';
  const result = readDocumentRows(text, [VENDOR, TOTAL]);
  expect(result).toEqual({
    ok: false,
    problems: [
      { path: 'rows[0].vendor', reason: 'is required, and absent or empty' },
      { path: 'rows[0].total', reason: 'is not a number' },
      { path: 'rows[1]', reason: 'must be an object' },
      { path: 'rows[2]', reason: 'must be an object' },
      { path: 'rows[3].vendor', reason: 'must be a text, not a list or an object' },
      { path: 'rows[4].vendor', reason: 'is required, and absent or empty' },
      { path: 'rows[4].total', reason: 'must be an amount, not a list or an object' },
    ],
  });
  expect(JSON.stringify(result)).not.toContain('secret');
});

test('tells of twenty problems at most', () => {
  const result = readDocumentRows(`[${Array(500).fill('{}').join(',')}]`, [VENDOR, column('b', { required: true })]);
  expect(result.ok ? 0 : result.problems.length).toBe(20);
});

test.for([
  ['"Zeile 1\\nZeile 2"', 'Zeile 1\nZeile 2'],
  ['"a\\u0000b\\u0007"', 'ab'],
  ['"\\ud800"', '\ufffd'],
  ['"=1+1"', '=1+1'],
  ['12345678901234567890.10', '12345678901234567890.10'],
  ['true', 'true'],
  ['null', null],
  ['"  "', null],
] as const)('reads the text %s', ([json, value]) => {
  expect(read('text', json)).toEqual(value);
});

test.for([
  ['"1,234.50"', 1234.5],
  ['"1.234,50"', 1234.5],
  ['"(12)"', -12],
  ['"€ -1 234,5"', -1234.5],
  ['0.1', 0.1],
  ['-0', 0],
  ['1.5e3', 1500],
  ['"-0.00"', 0],
  ['"12345678901234567890"', { reason: expect.stringContaining('more digits') }],
  ['12345678901234567890', { reason: expect.stringContaining('more digits') }],
  ['0.1000000000000000055', { reason: expect.stringContaining('more digits') }],
  ['"1,234"', { reason: expect.stringContaining('ambiguous') }],
  ['"twelve"', { reason: 'is not a number' }],
  ['false', { reason: 'is not a number' }],
] as const)('reads the number %s', ([json, value]) => {
  expect(read('number', json)).toEqual(value);
});

test.for([
  ['"$1,234.50"', '1234.50'],
  ['"1.234,50 EUR"', '1234.50'],
  ['12.50', '12.50'],
  ['"(0.99)"', '-0.99'],
  ['12345678901234567890.01', '12345678901234567890.01'],
  ['"free"', { reason: 'is not a number' }],
] as const)('reads the amount %s', ([json, value]) => {
  expect(read('currency', json)).toEqual(value);
});

test.for([
  ['true', true],
  ['"Yes"', true],
  ['1', true],
  ['"NO"', false],
  ['"0"', false],
  ['"maybe"', { reason: 'is not true or false' }],
  ['2', { reason: 'is not true or false' }],
] as const)('reads the boolean %s', ([json, value]) => {
  expect(read('boolean', json)).toEqual(value);
});

test('reads a numeric date by the order that the description of its column names', () => {
  expect(read('date', '"03/04/2026"')).toEqual({ reason: expect.stringContaining('ambiguous') });
  expect(read('date', '"03/04/2026"', { description: 'Due on, DD/MM/YYYY' })).toBe('2026-04-03');
  expect(read('date', '"03/04/2026"', { description: 'Month first.' })).toBe('2026-03-04');
  expect(read('date', '"2026-04-03"', { description: 'Month first.' })).toBe('2026-04-03');
});

test('reads back whatever rows of texts fit the schema', () => {
  const columns = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), {
    minLength: 1,
    maxLength: 8,
  });
  const cell = fc.string({ maxLength: 30 }).map((text) => text.replace(/\p{Cc}/gu, '').trim());
  fc.assert(
    fc.property(columns, fc.array(fc.array(cell, { minLength: 8, maxLength: 8 }), { maxLength: 5 }), (names, cells) => {
      const defined = names.filter((name) => name !== '__proto__').map((name) => column(name));
      const keys = keyColumns(defined).map(({ key }) => key);
      const rows = cells.map((row) => ({
        ...Object.fromEntries(keys.map((key, index) => [key, row[index]])),
        page_number: 1,
        confidence_score: 0.5,
      }));
      const expected = cells.map((row) =>
        Object.fromEntries(defined.map(({ name }, index) => [name, row[index] === '' ? null : row[index]])),
      );
      const read = readDocumentRows(JSON.stringify({ rows }), defined);
      expect(read).toEqual({ ok: true, rows: expected, provenance: rows.map(() => ({ page: 1, confidence: 0.5 })) });
      expect(extractionSchema(defined)).toBeDefined();
    }),
  );
});

test('gives a verdict on any reply, and never throws', () => {
  const types = ['text', 'number', 'date', 'boolean', 'currency'] as const;
  const columns = types.map((type) => column(type, { type, required: true }));
  const value = fc.oneof(fc.jsonValue(), fc.string());
  const row = fc.record(Object.fromEntries(types.map((type) => [type, value])), { requiredKeys: [] });
  const replies = fc.oneof(
    fc.string(),
    fc.json(),
    fc.array(row).map((rows) => JSON.stringify({ rows })),
  );
  fc.assert(
    fc.property(replies, (text) => {
      const result = readDocumentRows(text, columns);
      if (result.ok) {
        for (const item of result.rows) expect(Object.keys(item)).toEqual([...types]);
        expect(result.provenance).toHaveLength(result.rows.length);
      } else expect(result.problems.length).toBeGreaterThan(0);
    }),
    { numRuns: 500 },
  );
});
