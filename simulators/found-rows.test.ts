import { expect, test } from 'vitest';
import { findRows } from './found-rows.ts';
import { type RowMember, rowsSchemaOf } from './rows-schema.ts';

const VENDOR: RowMember = { key: 'vendor', names: ['vendor'], type: 'string', isNullable: false };
const TOTAL: RowMember = { key: 'total', names: ['totalamount', 'total'], type: 'string', isNullable: false };
const MEMBERS = [VENDOR, TOTAL];

function found(pages: readonly string[], members = MEMBERS) {
  return findRows(pages, members).map(({ page, values }) => ({ page, ...Object.fromEntries(values) }));
}

test.for([
  'vendor,total\nAcme,12.50\n"Bolt, ""Inc""",7',
  'Vendor;Other;Total Amount\nAcme;x;12.50\n"Bolt, ""Inc""";y;7',
  'VENDOR\ttotal\nAcme\t12.50\nBolt, "Inc"\t7',
  '| Vendor | Total |\n|---|---|\n| Acme | 12.50 |\n| Bolt, "Inc" | 7 |'.replace('|---|---|\n', ''),
  'Invoices of the month\n\nVendor  Total\nAcme  12.50\nBolt, "Inc"  7\n\nThank you.',
])('finds the lines of a table: %j', (text) => {
  expect(found([text])).toEqual([
    { page: 1, vendor: 'Acme', total: '12.50' },
    { page: 1, vendor: 'Bolt, "Inc"', total: '7' },
  ]);
});

test('finds what lines say by name, a new row at each name that comes again', () => {
  expect(found(['Vendor: Acme\nTotal amount: 12.50 EUR\nNote: none\n', 'vendor: Bolt'])).toEqual([
    { page: 1, vendor: 'Acme', total: '12.50 EUR' },
    { page: 2, vendor: 'Bolt' },
  ]);
});

test('gives every line of a table what is said once, and goes on with the table on the next page', () => {
  const pages = ['Vendor: Acme\n\nItem  Total\nNails  1', '[page 7]\nItem  Total\nScrews  2'];
  const item: RowMember = { key: 'item', names: ['item'], type: 'string', isNullable: false };
  expect(found(pages, [...MEMBERS, item])).toEqual([
    { page: 1, vendor: 'Acme', item: 'Nails', total: '1' },
    { page: 7, vendor: 'Acme', item: 'Screws', total: '2' },
  ]);
});

test.for(['', 'Dear Sir or Madam', 'a,b\n1,2', 'Total'])('finds nothing in %j', (text) => {
  expect(found([text])).toEqual([]);
});

test('knows a schema that asks for rows, and no other', () => {
  const items = { type: 'object', properties: { total_amount: { type: ['number', 'null'], title: 'Total (€)' } } };
  expect(rowsSchemaOf({ type: 'object', properties: { rows: { type: 'array', items } } })).toEqual({
    list: 'rows',
    members: [{ key: 'total_amount', names: ['total', 'totalamount'], type: 'number', isNullable: true }],
  });
  const others = [undefined, 'any', {}, items, { properties: { a: items } }, { properties: { a: { type: 'array' } } }];
  expect(others.map(rowsSchemaOf)).toEqual(others.map(() => undefined));
});
