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
  const items = numbered(kept(spool.itemRows(), skipped), firstItemNo, (rows, first) =>
    numberItemRows(rows, first, manifestNo),
  );
  await copyRows(client, `batch_items_${bucket}`, ITEM_COLUMNS, items);
  const requests = numbered(kept(spool.requestRows(), skipped), firstItemNo, numberRequestRows);
  await copyRows(client, `item_requests_${bucket}`, REQUEST_COLUMNS, requests);
}

/** Streams COPY text into a table. `columns` name the fields of a row in order. */
export async function copyRows(
  client: pg.PoolClient,
  table: string,
  columns: readonly string[],
  rows: AsyncIterable<Buffer>,
): Promise<void> {
  const copy = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`));
  await pipeline(Readable.from(rows), copy);
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

async function* kept(batches: AsyncIterable<Buffer>, skipped: SkippedRows | null): AsyncGenerator<Buffer> {
  if (skipped === null) {
    yield* batches;
    return;
  }
  let index = 0;
  for await (const rows of batches) {
    const first = index;
    let start = 0;
    const pieces: Buffer[] = [];
    index += eachRow(rows, (at, row) => {
      if (skipped.has(first + row - 1)) start = at;
      else if (skipped.has(first + row)) pieces.push(rows.subarray(start, at));
    });
    if (!skipped.has(index - 1)) pieces.push(rows.subarray(start));
    yield Buffer.concat(pieces);
  }
}
