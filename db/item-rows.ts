/**
 * Rows of `batch_items` and `item_requests` as COPY text. Item and manifest numbers are known only under the job's
 * lock, long after a row is written, so each row starts with slots of ten digits that are filled in place.
 */

const SLOT_DIGITS = 10;
const SLOT = '0'.repeat(SLOT_DIGITS);
const LF = 10;
const ZERO = 48;

/** Column order of an item row. Until `numberItemRows`, item_no holds the item's position and manifest_no its cap flag. */
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
] as const;
/** Column order of a request row. */
export const REQUEST_COLUMNS = ['item_no', 'bucket', 'job_id', 'body'] as const;

/** Where the rows of one job belong. */
export interface RowOwner {
  readonly bucket: number;
  readonly jobUuid: string;
}

/** An item as it is stored. Texts hold neither control characters nor lone surrogates; `body` is JSON on one line. */
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
}

export function encodeItemRow({ bucket, jobUuid }: RowOwner, item: ItemRow): string {
  const key = item.idempotencyKey === null ? '\\N' : escaped(item.idempotencyKey);
  const model = item.requestedModel === null ? '\\N' : escaped(item.requestedModel);
  const isUncapped = item.maxOutputTokens === null ? '0000000001' : SLOT;
  return (
    `${String(item.position).padStart(SLOT_DIGITS, '0')}\t${isUncapped}\t${bucket}\t${jobUuid}\t${escaped(item.customId)}` +
    `\t${key}\t\\\\x${item.requestHash}\t${item.bodyBytes}\t${model}\t${item.features}\t${item.inputTokens}` +
    `\t${item.maxOutputTokens ?? 0}\n`
  );
}

export function encodeRequestRow({ bucket, jobUuid }: RowOwner, item: ItemRow): string {
  return `${SLOT}\t${bucket}\t${jobUuid}\t${escaped(item.body)}\n`;
}

/** Numbers whole item rows in place, from `firstItemNo` on. Returns how many there were. */
export function numberItemRows(rows: Buffer, firstItemNo: number, manifestNo: number): number {
  return eachRow(rows, (start, index) => {
    writeSlot(rows, start, firstItemNo + index);
    writeSlot(rows, start + SLOT_DIGITS + 1, manifestNo);
  });
}

/** Numbers whole request rows in place, from `firstItemNo` on. Returns how many there were. */
export function numberRequestRows(rows: Buffer, firstItemNo: number): number {
  return eachRow(rows, (start, index) => writeSlot(rows, start, firstItemNo + index));
}

/** Calls `visit` with the offset of each row and counts them. Rows hold no LF but the one that ends them. */
export function eachRow(rows: Buffer, visit: (start: number, index: number) => void): number {
  let index = 0;
  for (let start = 0; start < rows.length; index += 1) {
    visit(start, index);
    start = rows.indexOf(LF, start) + 1;
  }
  return index;
}

function writeSlot(rows: Buffer, start: number, value: number): void {
  let rest = value;
  for (let at = start + SLOT_DIGITS - 1; at >= start; at -= 1) {
    const tenth = Math.trunc(rest / 10);
    rows[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
}

/** JSON on one line and checked ids hold no control characters, so the backslash is all that COPY would misread. */
function escaped(text: string): string {
  return text.includes('\\') ? text.replaceAll('\\', '\\\\') : text;
}
