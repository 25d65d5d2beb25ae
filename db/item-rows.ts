/**
 * Rows of `batch_items` and `item_requests` in PostgreSQL's binary COPY format, which spares both sides the escaping and
 * the server the parsing (its part of a 1 kB request halves). Item and manifest numbers are known only under the job's
 * lock, long after a row is written: they come first in a row, at fixed offsets, and are filled in place.
 */

/** Column order of an item row. Until it is numbered, item_no holds the item's position and manifest_no the replies without a cap. */
export const ITEM_COLUMNS = [
  'item_no',
  'manifest_no',
  'bucket',
  'job_id',
  'custom_id',
  'idempotency_key',
  'request_hash',
  'request_bytes',
  'requested_model',
  'features',
  'estimated_tokens',
  'estimated_output_tokens',
  'embedding_inputs',
] as const;
/** Column order of a request row. */
export const REQUEST_COLUMNS = ['item_no', 'bucket', 'job_id', 'body'] as const;

/** An item as it is stored. Texts are well-formed and free of NUL. */
export interface ItemRow {
  /** Where the caller finds it: its 1-based line, or its index plus 1. */
  readonly position: number;
  readonly customId: string;
  /** Null when it is the custom id, which is the default. */
  readonly idempotencyKey: string | null;
  /** SHA-256 of `body`, as hex. */
  readonly requestHash: string;
  readonly body: string;
  readonly bodyBytes: number;
  readonly requestedModel: string | null;
  readonly features: number;
  readonly inputTokens: number;
  /** Null when the request sets no limit. */
  readonly maxOutputTokens: number | null;
  /** Replies asked for at once. */
  readonly choices: number;
  /** Texts to embed; 0 on other endpoints. */
  readonly embeddingInputs: number;
}

const NULL_LENGTH = -1;
const HASH_BYTES = 32;
const UUID_BYTES = 16;
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
/** A row's count of fields, then item_no, then in item rows manifest_no: each number behind its length. */
const ITEM_NO_OFFSET = 6;
const MANIFEST_NO_OFFSET = 14;
const INT_BYTES = 8;
/** Everything in an item row but its texts. */
const ITEM_FIXED_BYTES = 2 + 8 * INT_BYTES + (4 + UUID_BYTES) + (4 + HASH_BYTES) + 3 * 4;
const REQUEST_FIXED_BYTES = 2 + 2 * INT_BYTES + (4 + UUID_BYTES) + 4;

/** Writes rows of one job. Each `write` returns the offset behind the row, which needs at most `…Size` bytes. */
export class ItemRowWriter {
  readonly #itemStart: Buffer;
  readonly #requestStart: Buffer;

  constructor({ bucket, jobUuid }: { readonly bucket: number; readonly jobUuid: string }) {
    const uuid = Buffer.from(jobUuid.replaceAll('-', ''), 'hex');
    const owner = Buffer.concat([int(bucket), lengthOf(uuid), uuid]);
    this.#itemStart = Buffer.concat([fieldCount(ITEM_COLUMNS.length), int(0), int(0), owner]);
    this.#requestStart = Buffer.concat([fieldCount(REQUEST_COLUMNS.length), int(0), owner]);
  }

  itemSize({ customId, idempotencyKey, requestedModel }: ItemRow): number {
    const units = customId.length + (idempotencyKey?.length ?? 0) + (requestedModel?.length ?? 0);
    return ITEM_FIXED_BYTES + units * MAX_BYTES_PER_UNIT;
  }

  writeItem(rows: Buffer, start: number, item: ItemRow): number {
    let at = start + this.#itemStart.copy(rows, start);
    rows.writeInt32BE(item.position, start + ITEM_NO_OFFSET);
    rows.writeInt32BE(item.maxOutputTokens === null ? item.choices : 0, start + MANIFEST_NO_OFFSET);
    at = writeText(rows, at, item.customId);
    at = writeText(rows, at, item.idempotencyKey);
    at = rows.writeInt32BE(HASH_BYTES, at);
    at += rows.write(item.requestHash, at, 'hex');
    at = writeInt(rows, at, item.bodyBytes);
    at = writeText(rows, at, item.requestedModel);
    at = writeInt(rows, at, item.features);
    at = writeInt(rows, at, item.inputTokens);
    at = writeInt(rows, at, item.maxOutputTokens ?? 0);
    return writeInt(rows, at, item.embeddingInputs);
  }

  requestSize({ bodyBytes }: ItemRow): number {
    return REQUEST_FIXED_BYTES + bodyBytes;
  }

  writeRequest(rows: Buffer, start: number, { body }: ItemRow): number {
    return writeText(rows, start + this.#requestStart.copy(rows, start), body);
  }
}

/** Numbers whole item rows in place, from `firstItemNo` on. Returns how many there were. */
export function numberItemRows(rows: Buffer, firstItemNo: number, manifestNo: number): number {
  return eachRow(rows, ITEM_COLUMNS.length, (start, index) => {
    rows.writeInt32BE(firstItemNo + index, start + ITEM_NO_OFFSET);
    rows.writeInt32BE(manifestNo, start + MANIFEST_NO_OFFSET);
  });
}

/** Numbers whole request rows in place, from `firstItemNo` on. Returns how many there were. */
export function numberRequestRows(rows: Buffer, firstItemNo: number): number {
  return eachRow(rows, REQUEST_COLUMNS.length, (start, index) => {
    rows.writeInt32BE(firstItemNo + index, start + ITEM_NO_OFFSET);
  });
}

/** Calls `visit` with the offset of each row of `columns` fields. Returns how many there were. */
export function eachRow(rows: Buffer, columns: number, visit: (start: number, index: number) => void): number {
  let index = 0;
  for (let at = 0; at < rows.length; index += 1) {
    visit(at, index);
    at += 2;
    for (let column = 0; column < columns; column += 1) {
      const length = rows.readInt32BE(at);
      at += length === NULL_LENGTH ? 4 : 4 + length;
    }
  }
  return index;
}

function writeInt(rows: Buffer, at: number, value: number): number {
  return rows.writeInt32BE(value, rows.writeInt32BE(4, at));
}

function writeText(rows: Buffer, at: number, text: string | null): number {
  if (text === null) return rows.writeInt32BE(NULL_LENGTH, at);
  const bytes = rows.write(text, at + 4);
  rows.writeInt32BE(bytes, at);
  return at + 4 + bytes;
}

function fieldCount(count: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(count);
  return bytes;
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(INT_BYTES);
  writeInt(bytes, 0, value);
  return bytes;
}

function lengthOf(field: Buffer): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(field.length);
  return bytes;
}
