import { expect, test } from 'vitest';
import { encodeAttemptToken, encodeProviderItemId } from '../../domain/attempt-token.ts';
import { ProviderError } from '../provider-error.ts';
import { findBatches } from './find-batches.ts';

const CREATED_AFTER = new Date('2026-11-30T10:00:00Z');
const OWN = encodeAttemptToken(new Uint8Array(16).fill(1));
const OTHER = encodeAttemptToken(new Uint8Array(16).fill(2));
const input = {
  attemptToken: OWN,
  inputFileId: null,
  itemCount: 10,
  createdAfter: CREATED_AFTER,
  signal: new AbortController().signal,
};

interface BatchTraits {
  ageMs?: number;
  items?: number;
  /** Its results, where it has ended. */
  results?: string;
}

const resultsOf = new Map<string, string>();

function batch(id: string, { ageMs = 0, items = 10, results }: BatchTraits = {}) {
  if (results !== undefined) resultsOf.set(id, results);
  return {
    id,
    type: 'message_batch',
    processing_status: results === undefined ? 'in_progress' : 'ended',
    created_at: new Date(CREATED_AFTER.getTime() + 60_000 - ageMs).toISOString(),
    request_counts: { processing: items, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    results_url: results === undefined ? null : `/results/${id}`,
  };
}

function resultLine(id: unknown): string {
  return `${JSON.stringify({ custom_id: id, result: { type: 'expired' } })}\n`;
}

/** Serves the pages in order and keeps what was asked for and read. */
function readerOf(...pages: unknown[]) {
  const queries: unknown[] = [];
  const read: string[] = [];
  return {
    queries,
    read,
    fetchPage: async (query: object) => {
      queries.push(query);
      return pages[queries.length - 1];
    },
    async *readResults({ id }: { id: string }) {
      read.push(id);
      const results = resultsOf.get(id) ?? '';
      if (results === 'gone') throw notFound();
      if (results === 'cut') throw new Error('connection lost');
      yield Buffer.from(results);
    },
  };
}

function notFound(): ProviderError {
  return new ProviderError({ code: 'not_found', message: 'no', isRetryable: true, mayHaveActed: false });
}

const idsOf = (found: { providerBatchId: string }[]) => found.map(({ providerBatchId }) => providerBatchId);
const ownLine = resultLine(encodeProviderItemId(OWN, 3));
const otherLine = resultLine(encodeProviderItemId(OTHER, 3));

test('names every batch of the time and size, newest first, over the pages', async () => {
  const reader = readerOf(
    { data: [batch('b1'), batch('b2', { items: 9 })], has_more: true, first_id: 'b1', last_id: 'b2' },
    { data: [batch('b3'), batch('b4', { items: 11 })], has_more: false, last_id: 'b4' },
  );
  expect(idsOf(await findBatches(input, reader))).toEqual(['b1', 'b3']);
  expect(reader.queries).toEqual([{ limit: 100 }, { limit: 100, after_id: 'b2' }]);
});

test('stops at a batch older than the attempt, clocks taken into account', async () => {
  const reader = readerOf(
    { data: [batch('b1', { items: 3 }), batch('b2', { ageMs: 120_000 })], has_more: true },
    { data: [batch('b3', { ageMs: 600_000 })], has_more: true },
  );
  expect(idsOf(await findBatches(input, reader))).toEqual(['b2']);
  expect(reader.queries).toHaveLength(2);
});

test('drops a batch whose results are of another attempt', async () => {
  const reader = readerOf({ data: [batch('b1', { results: otherLine.repeat(3) }), batch('b2')], has_more: false });
  expect(idsOf(await findBatches(input, reader))).toEqual(['b2']);
});

test('drops a batch whose ids are not of this gateway', async () => {
  const reader = readerOf({ data: [batch('b1', { results: resultLine('request-1') })], has_more: false });
  expect(await findBatches(input, reader)).toEqual([]);
});

test('a batch proven by its results is the only answer', async () => {
  const reader = readerOf({ data: [batch('b1'), batch('b2', { results: ownLine }), batch('b3')], has_more: false });
  expect(idsOf(await findBatches(input, reader))).toEqual(['b2']);
});

test('names every proven batch, so that a surplus is seen', async () => {
  const data = [batch('b1', { results: ownLine }), batch('b2', { results: ownLine })];
  expect(idsOf(await findBatches(input, readerOf({ data, has_more: false })))).toEqual(['b1', 'b2']);
});

test.each([
  ['behind a garbled line', `{"custom_\n${ownLine}`],
  ['behind a line that is not its own', `${resultLine('stray')}${ownLine}`],
  ['in a line too long to read', `${ownLine.trimEnd().slice(0, -2)},"x":"${'y'.repeat(100_000)}"}}\n`],
  ['in a line cut short', ownLine.slice(0, 60)],
])('finds the proof %s', async (_name, results) => {
  const reader = readerOf({ data: [batch('b1', { results }), batch('b2')], has_more: false });
  expect(idsOf(await findBatches(input, reader))).toEqual(['b1']);
});

test.each([
  ['are not there yet', 'gone'],
  ['name nobody', '{}\n[1]\n'],
  ['are empty', ''],
])('keeps a candidate whose results %s', async (_name, results) => {
  const reader = readerOf({ data: [batch('b1', { results })], has_more: false });
  expect(idsOf(await findBatches(input, reader))).toEqual(['b1']);
});

test('does not take results it could not read for a verdict', async () => {
  const reader = readerOf({ data: [batch('b1', { results: 'cut' })], has_more: false });
  await expect(findBatches(input, reader)).rejects.toThrow('connection lost');
});

test('keeps an archived candidate without reading it', async () => {
  const archived = { ...batch('b1', { results: otherLine }), archived_at: '2026-12-29T10:00:00Z' };
  const reader = readerOf({ data: [archived], has_more: false });
  expect(idsOf(await findBatches(input, reader))).toEqual(['b1']);
  expect(reader.read).toEqual([]);
});

test.each([[null], [{}], [{ processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 }], ['10']])(
  'rules nothing out by counts %j',
  async (counts) => {
    const reader = readerOf({ data: [{ ...batch('b1'), request_counts: counts }], has_more: false });
    expect(idsOf(await findBatches(input, reader))).toEqual(['b1']);
  },
);

test('adds up counts that are digits', async () => {
  const counts = { processing: '1', succeeded: '7', errored: 2, canceled: 0, expired: 0 };
  const reader = readerOf({ data: [{ ...batch('b1'), request_counts: counts }], has_more: false });
  expect(idsOf(await findBatches(input, reader))).toEqual(['b1']);
});

test('goes on after a full page that does not say whether there is more', async () => {
  const full = Array.from({ length: 100 }, (_, index) => batch(`b${index}`, { items: 1 }));
  const reader = readerOf({ data: full }, { data: [batch('last')] });
  expect(idsOf(await findBatches(input, reader))).toEqual(['last']);
  expect(reader.queries[1]).toEqual({ limit: 100, after_id: 'b99' });
});

test('passes over an entry it cannot read', async () => {
  const reader = readerOf({ data: [null, { id: 7 }, batch('b1')], has_more: false });
  expect(idsOf(await findBatches(input, reader))).toEqual(['b1']);
});

test.each([
  ['a string', '<html>'],
  ['an error object', { type: 'error', error: { message: 'no' } }],
  ['no data', { has_more: false }],
  ['an empty page that promises more', { data: [], has_more: true }],
  ['a candidate in a shape it cannot read', { data: [{ ...batch('b1'), results_url: 7 }], has_more: false }],
])('does not take %s for "not found"', async (_name, page) => {
  await expect(findBatches(input, readerOf(page))).rejects.toMatchObject({ code: 'malformed_reply' });
});

test('does not follow a list that goes round in circles', async () => {
  const page = { data: [batch('b1')], has_more: true, last_id: 'b1' };
  await expect(findBatches(input, readerOf(page, page, page))).rejects.toMatchObject({ code: 'malformed_reply' });
});
