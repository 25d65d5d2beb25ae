import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { eachRow, ITEM_COLUMNS, numberItemRows, numberRequestRows, REQUEST_COLUMNS } from './item-rows.ts';
import type { SpooledItems } from './item-spool.ts';

/** Which rows of a spool are left out, by index. */
export interface SkippedRows {
  has(index: number): boolean;
}

/** The numbers rows are given: those that are kept follow each other without a gap. */
export interface Numbering {
  readonly bucket: number;
  readonly manifestNo: number;
  readonly firstItemNo: number;
}

/** Signature, flags and header extension of binary COPY (PostgreSQL documentation, COPY, "Binary Format"). */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const TRAILER = Buffer.from([0xff, 0xff]);

/**
 * Copies the rows into the partitions of their bucket: `batch_items` first, for its unique indexes are what may refuse.
 * Straight into the leaves, since a role under row-level security may not COPY into their parents.
 */
export async function copySpooledItems(
  client: pg.PoolClient,
  spool: SpooledItems,
  { bucket, manifestNo, firstItemNo }: Numbering,
  skipped: SkippedRows | null,
): Promise<void> {
  const items = kept(spool.itemRows(), ITEM_COLUMNS.length, skipped);
  const numberItems = (rows: Buffer, first: number) => numberItemRows(rows, first, manifestNo);
  await copyRows(client, `batch_items_${bucket}`, ITEM_COLUMNS, numbered(items, firstItemNo, numberItems));
  const requests = kept(spool.requestRows(), REQUEST_COLUMNS.length, skipped);
  await copyRows(
    client,
    `item_requests_${bucket}`,
    REQUEST_COLUMNS,
    numbered(requests, firstItemNo, numberRequestRows),
  );
}

/** Streams rows in binary COPY format into a table. `columns` name the fields of a row in order. */
export async function copyRows(
  client: pg.PoolClient,
  table: string,
  columns: readonly string[],
  rows: AsyncIterable<Buffer>,
): Promise<void> {
  const copy = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN WITH (FORMAT binary)`));
  await pipeline(Readable.from(framed(rows)), copy);
}

async function* framed(rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield HEADER;
  yield* rows;
  yield TRAILER;
}

async function* numbered(
  batches: AsyncIterable<Buffer>,
  firstItemNo: number,
  number: (rows: Buffer, firstItemNo: number) => number,
): AsyncGenerator<Buffer> {
  let next = firstItemNo;
  for await (const rows of batches) {
    next += number(rows, next);
    yield rows;
  }
}

async function* kept(
  batches: AsyncIterable<Buffer>,
  columns: number,
  skipped: SkippedRows | null,
): AsyncGenerator<Buffer> {
  let index = 0;
  for await (const rows of batches) {
    if (skipped === null) {
      yield rows;
      continue;
    }
    const first = index;
    const pieces: Buffer[] = [];
    let start = 0;
    index += eachRow(rows, columns, (at, row) => {
      if (skipped.has(first + row - 1)) start = at;
      else if (skipped.has(first + row)) pieces.push(rows.subarray(start, at));
    });
    if (!skipped.has(index - 1)) pieces.push(rows.subarray(start));
    yield Buffer.concat(pieces);
  }
}
