import { expect, test } from 'vitest';
import {
  ITEM_COLUMNS,
  type ItemRow,
  ItemRowWriter,
  numberItemRows,
  numberRequestRows,
  REQUEST_COLUMNS,
} from './item-rows.ts';

const writer = new ItemRowWriter({ bucket: 202611, jobUuid: '0192f000-0000-7000-8000-00000000000a' });
const ITEM: ItemRow = {
  position: 7,
  customId: 'row_é😀',
  idempotencyKey: null,
  requestHash: 'ab'.repeat(32),
  body: '{"a":"b\\n"}',
  bodyBytes: 11,
  requestedModel: null,
  features: 3,
  inputTokens: 40,
  maxOutputTokens: 9,
  choices: 1,
  embeddingInputs: 2,
};

function write(items: readonly ItemRow[]): { items: Buffer; requests: Buffer } {
  const rows = Buffer.alloc(10_000);
  let at = 0;
  for (const item of items) {
    const start = at;
    at = writer.writeItem(rows, at, item);
    expect(at - start).toBeLessThanOrEqual(writer.itemSize(item));
  }
  const written = Buffer.from(rows.subarray(0, at));
  at = 0;
  for (const item of items) {
    const start = at;
    at = writer.writeRequest(rows, at, item);
    expect(at - start).toBe(writer.requestSize(item));
  }
  return { items: written, requests: Buffer.from(rows.subarray(0, at)) };
}

/** Reads rows as the COPY documentation lays them out: a field count, then length and bytes of each field. */
function fields(rows: Buffer): (Buffer | null)[][] {
  const read: (Buffer | null)[][] = [];
  for (let at = 0; at < rows.length; ) {
    const row: (Buffer | null)[] = [];
    const count = rows.readInt16BE(at);
    at += 2;
    for (let field = 0; field < count; field += 1) {
      const length = rows.readInt32BE(at);
      at += 4;
      row.push(length < 0 ? null : rows.subarray(at, at + length));
      at += Math.max(length, 0);
    }
    read.push(row);
  }
  return read;
}

test('an item row holds its columns in order, position and cap flag first', () => {
  const [row] = fields(write([{ ...ITEM, idempotencyKey: 'k', requestedModel: 'm', maxOutputTokens: null }]).items);
  expect(row?.length).toBe(ITEM_COLUMNS.length);
  expect(row?.map((field) => field?.toString('hex'))).toEqual([
    '00000007',
    '00000001',
    '00031773',
    '0192f00000007000800000000000000a',
    Buffer.from('row_é😀').toString('hex'),
    '6b',
    'ab'.repeat(32),
    '0000000b',
    '6d',
    '00000003',
    '00000028',
    '00000000',
    '00000002',
  ]);
});

test('texts that are not there are null', () => {
  const [row] = fields(write([ITEM]).items);
  expect([row?.[5], row?.[8], row?.[1]?.readInt32BE()]).toEqual([null, null, 0]);
});

test('rows are numbered in place, whatever their lengths', () => {
  const batch = write([
    ITEM,
    { ...ITEM, customId: 'x'.repeat(300), requestedModel: 'm' },
    { ...ITEM, body: '{}', bodyBytes: 2 },
  ]);
  expect(numberItemRows(batch.items, 2_000_000_000, 5)).toBe(3);
  expect(numberRequestRows(batch.requests, 2_000_000_000)).toBe(3);
  expect(fields(batch.items).map((row) => [row[0]?.readInt32BE(), row[1]?.readInt32BE()])).toEqual([
    [2_000_000_000, 5],
    [2_000_000_001, 5],
    [2_000_000_002, 5],
  ]);
  const requests = fields(batch.requests);
  expect(requests.map((row) => row[0]?.readInt32BE())).toEqual([2_000_000_000, 2_000_000_001, 2_000_000_002]);
  expect(requests.map((row) => [row.length, row[3]?.toString()])).toEqual(
    [ITEM.body, ITEM.body, '{}'].map((body) => [REQUEST_COLUMNS.length, body]),
  );
});
