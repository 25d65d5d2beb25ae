import { expect, test } from 'vitest';
import type { Query } from '../client.ts';
import { fakeResult } from '../testing/fake-job.ts';
import { ResultReader } from './result-reader.ts';

interface Page {
  readonly ids: readonly string[];
  readonly next: string | null;
}

function setUp(pages: readonly Page[]) {
  const rest = [...pages];
  const queries: Query[] = [];
  const listResults = async (_jobId: string, query: Query) => {
    queries.push(query);
    const page = rest.shift();
    if (page === undefined) throw new Error('asked too often');
    return { data: page.ids.map((id) => fakeResult(id)), next_cursor: page.next };
  };
  return { reader: new ResultReader({ listResults }, 'job_1', { status: 'failed' }), queries };
}

async function readNew(reader: ResultReader): Promise<string[]> {
  const pages = await Array.fromAsync(reader.newPages());
  return pages.flat().map(({ custom_id }) => custom_id);
}

test('follows the cursor of a running job and goes on where it was', async () => {
  const { reader, queries } = setUp([
    { ids: ['a', 'b'], next: '2' },
    { ids: [], next: '2' },
    { ids: ['c'], next: '3' },
    { ids: ['d'], next: null },
  ]);
  expect(await readNew(reader)).toEqual(['a', 'b']);
  expect(reader.isOver).toBe(false);
  expect(await readNew(reader)).toEqual(['c', 'd']);
  expect(reader.isOver).toBe(true);
  expect(await readNew(reader)).toEqual([]);
  expect(queries.map(({ cursor, status }) => [cursor, status])).toEqual([
    [undefined, 'failed'],
    ['2', 'failed'],
    ['2', 'failed'],
    ['3', 'failed'],
  ]);
});

test('gives a page again that could not be used', async () => {
  const { reader, queries } = setUp([
    { ids: ['a'], next: '1' },
    { ids: ['a'], next: null },
  ]);
  const use = async () => {
    for await (const _page of reader.newPages()) throw new Error('disk full');
  };
  await expect(use()).rejects.toThrow('disk full');
  expect(await readNew(reader)).toEqual(['a']);
  expect(queries.map(({ cursor }) => cursor)).toEqual([undefined, undefined]);
});
