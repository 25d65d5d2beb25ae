import type { ResultDocument } from '../contracts/document.ts';
import type { ResultDocument as TableDocument } from '../documents/result-table.ts';
import { resultsCsv } from '../documents/results-csv.ts';
import { resultsXlsx } from '../documents/results-xlsx.ts';
import type { OpenBatchResults } from './operations/batch-results.ts';
import { presentBatchHead } from './presentation/document.ts';

/** Media types that results come in. */
export const RESULT_TYPES = [
  'application/json',
  'text/csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
] as const;

/** The results of a batch as one JSON object, in pieces. */
export async function* resultsJson({ batch, documents }: OpenBatchResults): AsyncGenerator<string> {
  yield `${JSON.stringify(presentBatchHead(batch)).slice(0, -1)},"documents":[`;
  let isFirst = true;
  for await (const document of documents) {
    yield (isFirst ? '' : ',') + JSON.stringify(document);
    isFirst = false;
  }
  yield ']}';
}

/** A table of all rows, in pieces. */
export function resultsTable(
  { batch, documents, columns }: OpenBatchResults,
  hasByteOrderMark: boolean,
): AsyncGenerator<string> {
  return resultsCsv(toTable(documents), { columns, batch, hasByteOrderMark });
}

/** The same as a workbook. */
export function resultsWorkbook({ batch, documents, columns }: OpenBatchResults): AsyncIterable<Uint8Array> {
  return resultsXlsx(toTable(documents), { columns, batch });
}

async function* toTable(documents: AsyncGenerator<ResultDocument>): AsyncGenerator<TableDocument> {
  for await (const document of documents) {
    yield {
      documentId: document.id,
      fileName: document.file_name,
      status: document.status,
      errorCode: document.processing_error?.code ?? null,
      rows: document.line_items ?? [],
      provenance: document.provenance ?? [],
    };
  }
}
