import { Readable } from 'node:stream';
import { type CellValue, type ColumnDef, writeXlsxStream, XLSX_MAX_ROWS_PER_SHEET } from 'hucre/xlsx';
import type { ColumnType, DocumentColumn } from '../domain/document.ts';
import { exactNumber } from '../domain/read-decimal.ts';
import { type BatchTimes, type ResultDocument, type TableCell, tableColumns, tableRows } from './result-table.ts';

export interface XlsxOptions {
  readonly columns: readonly DocumentColumn[];
  readonly batch: BatchTimes;
  /** Rows beyond it go on in a sheet of their own; as many as Excel's sheets have where none is given. */
  readonly maxSheetRows?: number;
}

type Documents = AsyncIterable<ResultDocument> | Iterable<ResultDocument>;

/** Of Excel: characters of one cell. */
const MAX_CELL_CHARS = 32_767;
/** Excel's first day that is counted right: it takes 1900 for a leap year. */
const FIRST_DAY = '1900-03-01';
/** What XML has no way to hold (XML 1.0, 2.2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** Excel reads `_x0041_` as an escape for `A`; escaped itself, it stays as it is. */
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;

/** A text, or a day, stays one when somebody edits it in Excel. */
const FORMAT_OF: { readonly [type in ColumnType]: Pick<ColumnDef, 'numFmt'> } = {
  text: { numFmt: '@' },
  date: { numFmt: 'yyyy\\-mm\\-dd' },
  number: {},
  currency: {},
  boolean: {},
};

/**
 * The rows of documents as a workbook (ECMA-376) of one sheet, "Results", or of several where that is full. Texts are cells of
 * text, so that no formula can come to be; amounts are numbers where Excel holds all of their digits.
 *
 * Rows are taken from `documents` as the stream is read: memory does not grow with them. An error of theirs is the stream's,
 * and when the stream is destroyed they are let go.
 */
export function resultsXlsx(
  documents: Documents,
  { columns, batch, maxSheetRows = XLSX_MAX_ROWS_PER_SHEET }: XlsxOptions,
): Readable {
  const options = {
    name: 'Results',
    columns: tableColumns(columns).map(({ name, type }): ColumnDef => ({ header: toText(name), ...FORMAT_OF[type] })),
    freezePane: { rows: 1 },
    maxRowsPerSheet: maxSheetRows,
  };
  return Readable.fromWeb(writeXlsxStream(rowsOf(documents, { columns, batch }), options));
}

async function* rowsOf(
  documents: Documents,
  table: { readonly columns: readonly DocumentColumn[]; readonly batch: BatchTimes },
): AsyncGenerator<CellValue[]> {
  for await (const document of documents) for (const row of tableRows(document, table)) yield row.map(toCell);
}

function toCell(cell: TableCell): CellValue {
  switch (cell.kind) {
    case 'empty':
      return null;
    case 'boolean':
      return cell.value;
    case 'number':
      // Spreadsheets count in doubles: what one cannot hold is for reading only.
      return exactNumber(cell.value) ?? toText(cell.value);
    case 'date':
      return toDay(cell.value);
    case 'text':
      return toText(cell.value);
  }
}

/** A text where Excel has no such day. */
function toDay(day: string): CellValue {
  const at = new Date(`${day}T00:00:00Z`);
  return day < FIRST_DAY || Number.isNaN(at.getTime()) ? toText(day) : at;
}

function toText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .slice(0, MAX_CELL_CHARS)
    .toWellFormed()
    .replace(NOT_XML, '')
    .replace(LOOKS_ESCAPED, '_x005F_');
}
