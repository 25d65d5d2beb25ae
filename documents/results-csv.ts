import { stringify } from 'csv-stringify/sync';
import type { DocumentColumn } from '../domain/document.ts';
import { type BatchTimes, type ResultDocument, type TableCell, tableColumns, tableRows } from './result-table.ts';

const BYTE_ORDER_MARK = '\ufeff';
/** Lines end with CR LF. */
const RFC_4180 = { record_delimiter: 'windows' } as const;
/** Rows that are written at once. */
const ROWS_AT_ONCE = 200;

/**
 * What a spreadsheet may take for a formula when it stands first in a cell (OWASP, CSV injection), in full width too. The
 * apostrophe makes it a text.
 */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * The rows of documents as CSV (RFC 4180) in UTF-8, piece by piece; memory does not grow with the rows. Numbers and days
 * stand as they are; a text that a spreadsheet would run as a formula has an apostrophe before it. `hasByteOrderMark` is
 * for Excel, which takes a CSV without one for its own code page.
 */
export async function* resultsCsv(
  documents: AsyncIterable<ResultDocument> | Iterable<ResultDocument>,
  {
    columns,
    batch,
    hasByteOrderMark,
  }: {
    readonly columns: readonly DocumentColumn[];
    readonly batch: BatchTimes;
    readonly hasByteOrderMark: boolean;
  },
): AsyncGenerator<string> {
  let lines: string[][] = [tableColumns(columns).map(({ name }) => harmless(name))];
  let prefix = hasByteOrderMark ? BYTE_ORDER_MARK : '';
  for await (const document of documents) {
    for (const row of tableRows(document, { columns, batch })) {
      lines.push(row.map(toField));
      if (lines.length < ROWS_AT_ONCE) continue;
      yield prefix + stringify(lines, RFC_4180);
      prefix = '';
      lines = [];
    }
  }
  if (lines.length > 0) yield prefix + stringify(lines, RFC_4180);
}

function toField(cell: TableCell): string {
  switch (cell.kind) {
    case 'empty':
      return '';
    case 'boolean':
      return String(cell.value);
    case 'number':
      return cell.value;
    case 'date':
    case 'text':
      return harmless(cell.value);
  }
}

function harmless(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
