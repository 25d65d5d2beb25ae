import type { DocumentColumn, DocumentState } from '../domain/document.ts';
import type { CellValue, LineItem, RowProvenance } from '../domain/line-item.ts';

/** A document with the rows that it gave; none unless it succeeded. */
export interface ResultDocument {
  readonly documentId: string;
  readonly fileName: string | null;
  readonly status: DocumentState;
  /** Code of its processing error. */
  readonly errorCode: string | null;
  readonly rows: readonly LineItem[];
  /** One for each row. */
  readonly provenance: readonly RowProvenance[];
}

/** A value with what it is written as. A number and a day are text here too, so that no digit is lost. */
export type TableCell =
  | { readonly kind: 'empty' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'text' | 'number' | 'date'; readonly value: string };

const OWN_COLUMNS = ['document', 'file_name', 'status', 'error', 'page', 'confidence'];
const DECIMAL = /^-?\d+(\.\d+)?$/;
const EMPTY: TableCell = { kind: 'empty' };

/**
 * The names of a table's columns: those that every row has, then those of the run. Where a run has a column of one of these
 * names, ours is called `document_…`.
 */
export function tableHeader(columns: readonly DocumentColumn[]): readonly string[] {
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const own = OWN_COLUMNS.map((name) => {
    let free = name;
    while (taken.has(free)) free = `document_${free}`;
    return free;
  });
  return [...own, ...columns.map(({ name }) => name)];
}

/** A row for each of the document's; one without values for a document that has none. */
export function* tableRows(
  document: ResultDocument,
  columns: readonly DocumentColumn[],
): Generator<readonly TableCell[]> {
  const own = [document.documentId, document.fileName, document.status, document.errorCode].map(toText);
  if (document.rows.length === 0) yield [...own, EMPTY, EMPTY, ...columns.map(() => EMPTY)];
  for (const [index, row] of document.rows.entries()) {
    const { page, confidence } = document.provenance[index] ?? { page: null, confidence: null };
    const values = columns.map((column) => toCell(Object.hasOwn(row, column.name) ? row[column.name] : null, column));
    yield [...own, toNumber(page), toNumber(confidence), ...values];
  }
}

/** By what the value is; its column only tells days and amounts from other texts. */
function toCell(value: CellValue | undefined, { type }: DocumentColumn): TableCell {
  if (value === null || value === undefined) return EMPTY;
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (typeof value === 'number') return toNumber(value);
  if (type === 'currency' && DECIMAL.test(value)) return { kind: 'number', value };
  return { kind: type === 'date' ? 'date' : 'text', value };
}

function toNumber(value: number | null): TableCell {
  return value === null ? EMPTY : { kind: 'number', value: String(value) };
}

function toText(value: string | null): TableCell {
  return value === null ? EMPTY : { kind: 'text', value };
}
