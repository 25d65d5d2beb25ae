import type { ColumnType, DocumentColumn, DocumentState } from '../domain/document.ts';
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

/** The times of the batch that the documents are of: the same in every row. */
export interface BatchTimes {
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

/** A value with what it is written as. A number and a day are text here too, so that no digit is lost. */
export type TableCell =
  | { readonly kind: 'empty' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'text' | 'number' | 'date'; readonly value: string };

/** A column of the table, with what its cells are. */
export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
}

const OWN_COLUMNS: readonly TableColumn[] = [
  { name: 'document', type: 'text' },
  { name: 'file_name', type: 'text' },
  { name: 'status', type: 'text' },
  { name: 'error', type: 'text' },
  { name: 'page', type: 'number' },
  { name: 'confidence', type: 'number' },
];
const BATCH_COLUMNS: readonly TableColumn[] = [
  { name: 'batch_created_at', type: 'text' },
  { name: 'batch_started_at', type: 'text' },
  { name: 'batch_completed_at', type: 'text' },
];
const DECIMAL = /^-?\d+(\.\d+)?$/;
const EMPTY: TableCell = { kind: 'empty' };

/**
 * The columns of a table: those that every row has, those of the run, then the times of the batch. Where a run has a column of
 * one of these names, ours is called `document_…`.
 */
export function tableColumns(columns: readonly DocumentColumn[]): readonly TableColumn[] {
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const free = ({ name: wanted, type }: TableColumn): TableColumn => {
    let name = wanted;
    while (taken.has(name)) name = `document_${name}`;
    return { name, type };
  };
  return [...OWN_COLUMNS.map(free), ...columns, ...BATCH_COLUMNS.map(free)];
}

/** A row for each of the document's; one without values for a document that has none. */
export function* tableRows(
  document: ResultDocument,
  { columns, batch }: { readonly columns: readonly DocumentColumn[]; readonly batch: BatchTimes },
): Generator<readonly TableCell[]> {
  const times = [batch.createdAt, batch.startedAt, batch.completedAt].map((at) => toText(at?.toISOString() ?? null));
  const own = [document.documentId, document.fileName, document.status, document.errorCode].map(toText);
  if (document.rows.length === 0) yield [...own, EMPTY, EMPTY, ...columns.map(() => EMPTY), ...times];
  for (const [index, row] of document.rows.entries()) {
    const { page, confidence } = document.provenance[index] ?? { page: null, confidence: null };
    const values = columns.map((column) => toCell(Object.hasOwn(row, column.name) ? row[column.name] : null, column));
    yield [...own, toNumber(page), toNumber(confidence), ...values, ...times];
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
