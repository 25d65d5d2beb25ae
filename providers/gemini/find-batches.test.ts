import { expect, test } from 'vitest';
import { findBatches, listLabelled } from './find-batches.ts';

const CREATED_AFTER = new Date('2026-11-30T09:00:00Z');
const input = {
  attemptToken: 'att-2',
  inputFileId: 'files/in2',
  itemCount: 10,
  createdAfter: CREATED_AFTER,
  signal: new AbortController().signal,
};

function batch(id: string, { age = 0, label, file = 'files/x' }: { age?: number; label?: string; file?: string } = {}) {
  const createTime = new Date(CREATED_AFTER.getTime() + 60_000 - age * 1000).toISOString();
  const metadata = { state: 'BATCH_STATE_RUNNING', createTime, displayName: label, inputConfig: { fileName: file } };
  return { name: `batches/${id}`, metadata };
}

/** Serves the pages in order and keeps what was asked for. */
function pagesOf(...pages: unknown[]) {
  const queries: unknown[] = [];
  const fetchPage = async (query: object) => {
    queries.push(query);
    return pages[queries.length - 1];
  };
  return { queries, fetchPage };
}

const idsOf = (found: { providerBatchId: string }[]) => found.map(({ providerBatchId }) => providerBatchId);

test('finds the batch that carries the token, however far back in a list of no known order', async () => {
  const { queries, fetchPage } = pagesOf(
    { operations: [batch('b1', { age: 90_000, label: 'att-0' })], nextPageToken: 'p2' },
    { nextPageToken: 'p3' },
    { operations: [batch('b2', { label: 'att-1' }), batch('b3', { label: 'att-2' })] },
  );
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['batches/b3']);
  expect(queries).toEqual([{ pageSize: 100 }, { pageSize: 100, pageToken: 'p2' }, { pageSize: 100, pageToken: 'p3' }]);
});

test('names every batch of the attempt, newest first, so that a surplus is seen', async () => {
  const { fetchPage } = pagesOf({
    operations: [batch('old', { age: 30, label: 'att-2' }), batch('new', { label: 'att-2' })],
  });
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['batches/new', 'batches/old']);
});

test('finds a batch without a label by its input file', async () => {
  const { fetchPage } = pagesOf({ operations: [batch('b1', { file: 'files/in2' })] });
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['batches/b1']);
});

test('leaves another attempt on the same input file alone', async () => {
  const { fetchPage } = pagesOf({
    operations: [batch('b1', { file: 'files/in2', label: 'att-1' }), batch('b2', { file: 'files/in2', age: 1000 })],
  });
  expect(await findBatches(input, fetchPage)).toEqual([]);
});

test('an empty list is an empty object', async () => {
  expect(await findBatches(input, pagesOf({}).fetchPage)).toEqual([]);
});

test('passes over an entry it cannot read', async () => {
  const { fetchPage } = pagesOf({ operations: [null, { name: 7 }, batch('b1', { label: 'att-2' })] });
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['batches/b1']);
});

test.each([
  ['a string', '<html>'],
  ['an error object', { error: { message: 'no' } }],
  ['another list', { data: [] }],
  ['nothing', null],
  ['its own batch in a shape it cannot read', { operations: [{ ...batch('b1', { label: 'att-2' }), name: 'x' }] }],
])('does not take %s for "not found"', async (_name, page) => {
  await expect(findBatches(input, pagesOf(page).fetchPage)).rejects.toMatchObject({ code: 'malformed_reply' });
});

test('does not follow a list that goes round in circles', async () => {
  const page = { operations: [batch('b1')], nextPageToken: 'p1' };
  await expect(findBatches(input, pagesOf(page, page, page).fetchPage)).rejects.toMatchObject({
    code: 'malformed_reply',
  });
});

test('lists the batches that carry a token of any attempt and are not older than asked, newest first', async () => {
  const [one, two] = ['0'.repeat(26), '1'.repeat(26)];
  const { fetchPage } = pagesOf(
    {
      operations: [batch('b1', { age: 30, label: one }), batch('b2', { age: 3_600, label: one })],
      nextPageToken: 'p2',
    },
    { operations: [null, batch('b3', { label: 'somebody else' }), batch('b4'), batch('b5', { label: two })] },
  );
  const labelled = await listLabelled(CREATED_AFTER, fetchPage);
  expect(labelled.map(({ attemptToken, batch: { providerBatchId } }) => [attemptToken, providerBatchId])).toEqual([
    [two, 'batches/b5'],
    [one, 'batches/b1'],
  ]);
});
