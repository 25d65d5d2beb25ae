import { expect, test } from 'vitest';
import { createTerminal } from './terminal.ts';
import { createUsageWriter, type UsageFormat, type UsageRow } from './usage-writer.ts';

const SUMS = {
  items: 1200,
  completed: 1199,
  failed: 1,
  expired: 0,
  cancelled: 0,
  input_tokens: 10,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 5,
  reasoning_tokens: 0,
  usage_estimated_items: 0,
  cost: '0.25',
  currency: 'USD',
};

function sum(customer: string): UsageRow {
  return { group: { customer, day: null }, ...SUMS };
}

function write(format: UsageFormat, ...pages: (readonly UsageRow[])[]): string {
  const silent = { write: () => true };
  const writer = createUsageWriter(format, { terminal: createTerminal(silent, silent, {}) });
  return pages.map((page) => writer.page(page)).join('') + writer.end();
}

test('json is one document over all pages', () => {
  expect(JSON.parse(write('json', [sum('a')], [], [sum('b')]))).toEqual({ data: [sum('a'), sum('b')] });
  expect(JSON.parse(write('json', []))).toEqual({ data: [] });
});

test('ndjson is a record a line', () => {
  expect(write('ndjson', [sum('a'), sum('b')]).split('\n')).toEqual([
    JSON.stringify(sum('a')),
    JSON.stringify(sum('b')),
    '',
  ]);
});

test('csv has one header, with groups as columns of their own', () => {
  const lines = write('csv', [sum('a')], [sum('=b')]).split('\r\n');
  expect(lines[0]).toMatch(/^customer,day,items,completed,/);
  expect(lines[1]).toBe('a,,1200,1199,1,0,0,10,0,0,5,0,0,0.25,USD');
  expect(lines[2]?.startsWith("'=b,,")).toBe(true);
  expect(lines).toHaveLength(4);
});

test('a table shows groups and what a person looks for', () => {
  const [head, row] = write('table', [sum('a')]).split('\n');
  expect(head?.split(/ +/)).toEqual(['CUSTOMER', 'DAY', 'ITEMS', 'FAILED', 'INPUT', 'OUTPUT', 'COST', 'CURRENCY']);
  expect(row?.split(/ +/)).toEqual(['a', '-', '1,200', '1', '10', '5', '0.25', 'USD']);
});

test('says that there is nothing', () => {
  expect(write('table')).toBe('Nothing has settled.\n');
});
