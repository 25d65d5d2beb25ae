import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { ItemPlan } from './item-plan.ts';
import { manifestLines } from './manifest.ts';
import type { Row } from './row.ts';

const plan: ItemPlan = {
  endpoint: 'chat.completions',
  model: 'm',
  toItem: ({ value }, number) => `${String(value['id'])}#${number}`,
};

async function* rows(...lines: number[]): AsyncGenerator<Row> {
  for (const line of lines) yield { line, value: { id: `line${line}` } };
}

test('puts each item on the line on which its row starts', async () => {
  const manifest = await text(manifestLines(rows(2, 3, 6), plan));
  expect(manifest.split('\n')).toEqual(['', 'line2#1', 'line3#2', '', '', 'line6#3', '']);
});

test('is made piece by piece and tells how far it has come', async () => {
  const large: ItemPlan = { ...plan, toItem: () => 'x'.repeat(40_000) };
  const told: number[] = [];
  const chunks = manifestLines(rows(1, 2, 3, 4, 5), large, (items) => told.push(items));
  expect((await chunks.next()).value?.length).toBe(80_002);
  expect(told).toEqual([1, 2]);
  expect((await Array.fromAsync(chunks)).length).toBe(2);
  expect(told).toEqual([1, 2, 3, 4, 5]);
});
