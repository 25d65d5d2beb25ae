import { expect, test } from 'vitest';
import { createTerminal } from './terminal.ts';
import { createUsageWriter, type PagedFormat, type UsageRow } from './usage-writer.ts';

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
  upstream_amount: '0.25',
  customer_amount: null,
  currency: 'USD',
};

function sum(customer: string): UsageRow {
  return { group: { customer, day: null }, ...SUMS };
}

function write(format: PagedFormat, ...pages: (readonly UsageRow[])[]): string {
  const silent = { write: () => true };
  const writer = createUsageWriter(format, { terminal: createTerminal(silent, silent, {}) });
  return pages.map((page) => writer.page(page)).join('') + writer.end();
}

test('json is one document over all pages', () => {
  expect(JSON.parse(write('json', [sum('a')], [], [sum('b')]))).toEqual({ data: [sum('a'), sum('b')] });
  expect(JSON.parse(write('json', []))).toEqual({ data: [] });
});

test('a table shows groups and what a person looks for', () => {
  const [head, row] = write('table', [sum('a')]).split('\n');
  expect(head?.split(/ +/)).toEqual(['CUSTOMER', 'DAY', 'ITEMS', 'FAILED', 'INPUT', 'OUTPUT', 'COST', 'CURRENCY']);
  expect(row?.split(/ +/)).toEqual(['a', '-', '1,200', '1', '10', '5', '0.25', 'USD']);
});

test('says that there is nothing', () => {
  expect(write('table')).toBe('Nothing has settled.\n');
});
