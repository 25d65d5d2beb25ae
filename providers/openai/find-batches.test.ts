import { expect, test } from 'vitest';
import { findBatches, listLabelled } from './find-batches.ts';

const CREATED_AFTER_S = 1_795_000_000;
const input = {
  attemptToken: 'att-2',
  inputFileId: 'file-2',
  itemCount: 10,
  createdAfter: new Date(CREATED_AFTER_S * 1000),
  signal: new AbortController().signal,
};

function batch(id: string, { age = 0, token, file = 'file-x' }: { age?: number; token?: string; file?: string } = {}) {
  return {
    id,
    object: 'batch',
    status: 'in_progress',
    input_file_id: file,
    created_at: CREATED_AFTER_S + 60 - age,
    metadata: token === undefined ? null : { batchgate_attempt: token },
  };
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

test('finds the batch that carries the token, on a later page', async () => {
  const { queries, fetchPage } = pagesOf(
    { data: [batch('b1'), batch('b2', { token: 'att-1' })], has_more: true },
    { data: [batch('b3', { token: 'att-2' }), batch('b4')], has_more: false },
  );
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['b3']);
  expect(queries).toEqual([{ limit: 100 }, { limit: 100, after: 'b2' }]);
});

test('stops at a batch older than the attempt, clocks taken into account', async () => {
  const { queries, fetchPage } = pagesOf(
    { data: [batch('b1'), batch('b2', { age: 120, token: 'att-2' })], has_more: true },
    { data: [batch('b3', { age: 600 })], has_more: true },
  );
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['b2']);
  expect(queries).toHaveLength(2);
});

test('finds a batch without a label by its input file', async () => {
  const { fetchPage } = pagesOf({ data: [batch('b1', { file: 'file-2' })], has_more: false });
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['b1']);
});

test('leaves another attempt on the same input file alone', async () => {
  const { fetchPage } = pagesOf({
    data: [batch('b1', { file: 'file-2', token: 'att-1' }), batch('b2', { file: 'file-2', age: 1000 })],
    has_more: false,
  });
  expect(await findBatches(input, fetchPage)).toEqual([]);
});

test('names every batch of the attempt, so that a surplus is seen', async () => {
  const { fetchPage } = pagesOf({ data: [batch('b1', { token: 'att-2' }), batch('b2', { token: 'att-2' })] });
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['b1', 'b2']);
});

test('goes on after a full page that does not say whether there is more', async () => {
  const full = Array.from({ length: 100 }, (_, index) => batch(`b${index}`));
  const { queries, fetchPage } = pagesOf({ data: full }, { data: [batch('last', { token: 'att-2' })] });
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['last']);
  expect(queries).toHaveLength(2);
});

test('passes over an entry it cannot read', async () => {
  const { fetchPage } = pagesOf({ data: [null, { id: 7 }, batch('b1', { token: 'att-2' })], has_more: false });
  expect(idsOf(await findBatches(input, fetchPage))).toEqual(['b1']);
});

test.each([
  ['a string', '<html>'],
  ['an error object', { error: { message: 'no' } }],
  ['no data', { object: 'list', has_more: false }],
  ['an empty page that promises more', { data: [], has_more: true }],
  [
    'its own batch in a shape it cannot read',
    { data: [{ ...batch('b1', { token: 'att-2' }), output_file_id: 7 }], has_more: false },
  ],
])('does not take %s for "not found"', async (_name, page) => {
  await expect(findBatches(input, pagesOf(page).fetchPage)).rejects.toMatchObject({ code: 'malformed_reply' });
});

test('does not follow a list that goes round in circles', async () => {
  const page = { data: [batch('b1')], has_more: true };
  await expect(findBatches(input, pagesOf(page, page, page).fetchPage)).rejects.toMatchObject({
    code: 'malformed_reply',
  });
});

const TOKENS = ['0'.repeat(26), '1'.repeat(26)] as const;

test('lists the batches that carry a token of any attempt, and no other', async () => {
  const { fetchPage } = pagesOf(
    {
      data: [batch('b1', { token: TOKENS[0] }), batch('b2'), batch('b3', { token: 'somebody else’s' })],
      has_more: true,
    },
    { data: [null, { ...batch('b4', { token: TOKENS[1] }), output_file_id: 7 }, batch('b5', { token: TOKENS[1] })] },
  );
  const labelled = await listLabelled(input.createdAfter, fetchPage);
  expect(labelled.map(({ attemptToken, batch: { providerBatchId } }) => [attemptToken, providerBatchId])).toEqual([
    [TOKENS[0], 'b1'],
    [TOKENS[1], 'b5'],
  ]);
});

test('lists no further back than it is asked to', async () => {
  const { queries, fetchPage } = pagesOf({ data: [batch('b1', { age: 600 })], has_more: true }, { data: [] });
  await listLabelled(input.createdAfter, fetchPage);
  expect(queries).toHaveLength(1);
});

test('does not take a page that is no list for an empty one', async () => {
  await expect(listLabelled(input.createdAfter, pagesOf('<html>').fetchPage)).rejects.toMatchObject({
    code: 'malformed_reply',
  });
});
