import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { DocumentColumn, DocumentCounts, DocumentState } from '../domain/document.ts';
import { type ResultDocument, type TableCell, tableHeader, tableRows } from './result-table.ts';
import { escapeXml, headerXml, rowXml, SHEET_END, SHEET_START, STYLES_XML } from './sheet-xml.ts';

/** What the second sheet says of the batch. */
export interface ResultBatch {
  readonly name: string;
  readonly status: DocumentState;
  readonly counts: DocumentCounts;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

export interface XlsxOptions {
  readonly columns: readonly DocumentColumn[];
  readonly batch: ResultBatch;
  /** Of Excel; rows beyond it go on in a sheet of their own. */
  readonly maxSheetRows?: number;
}

const MAX_SHEET_ROWS = 1_048_576;
const CHUNK_CHARS = 32 * 1_024;

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const SPREADSHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * The rows of documents as a workbook (ECMA-376): a sheet "Results", and one "Batch" with its three times and its counts.
 * Texts are cells of text, so that no formula can come to be; amounts are numbers where Excel holds all of their digits.
 *
 * Rows are taken from `documents` as the stream is read: memory does not grow with them. An error of theirs is the stream's,
 * and when the stream is destroyed they are let go. No library that is kept up writes two sheets so: they hold all rows, or
 * do not wait for a slow reader. What is needed of the format is small, and yazl packs it.
 */
export function resultsXlsx(
  documents: AsyncIterable<ResultDocument> | Iterable<ResultDocument>,
  { columns, batch, maxSheetRows = MAX_SHEET_ROWS }: XlsxOptions,
): Readable {
  const zip = new ZipFile();
  // Its type says less than it is.
  const output = zip.outputStream as Readable;
  const rows = lookAhead(rowsOf(documents, columns));
  const sheets: string[] = [];
  const add = (path: string, text: string) =>
    zip.addBuffer(Buffer.from(text), path, { mtime: batch.createdAt, compress: true });

  const addRows = () => {
    const number = sheets.push(sheets.length === 0 ? 'Results' : `Results ${sheets.length + 1}`);
    const sheet = Readable.from(inChunks(sheetXml(rows, columns, maxSheetRows)));
    sheet.once('error', (error) => output.destroy(error));
    sheet.once('end', () => (rows.isDone() ? addRest() : addRows()));
    output.once('close', () => sheet.destroy());
    zip.addReadStream(sheet, `xl/worksheets/sheet${number}.xml`, { mtime: batch.createdAt, compress: true });
  };
  const addRest = () => {
    const number = sheets.push('Batch');
    add(`xl/worksheets/sheet${number}.xml`, batchXml(batch));
    for (const [path, text] of Object.entries(workbookParts(sheets))) add(path, text);
    zip.end();
  };

  zip.once('error', (error: Error) => output.destroy(error));
  addRows();
  return output;
}

async function* rowsOf(
  documents: AsyncIterable<ResultDocument> | Iterable<ResultDocument>,
  columns: readonly DocumentColumn[],
): AsyncGenerator<readonly TableCell[]> {
  for await (const document of documents) yield* tableRows(document, columns);
}

interface Rows {
  /** The next row, or null after the last. */
  next(): Promise<readonly TableCell[] | null>;
  /** Whether there is another, which is kept. */
  peek(): Promise<boolean>;
  /** Whether the source was found to have no more. */
  isDone(): boolean;
  close(): Promise<void>;
}

/** A sheet that is full has to know whether there is another row, without taking it. */
function lookAhead(source: AsyncGenerator<readonly TableCell[]>): Rows {
  let kept: readonly TableCell[] | null = null;
  let done = false;
  const next = async () => {
    if (kept !== null) {
      const row = kept;
      kept = null;
      return row;
    }
    const result = await source.next();
    done = result.done === true;
    return result.done === true ? null : result.value;
  };
  return {
    next,
    isDone: () => done,
    peek: async () => {
      kept = await next();
      return kept !== null;
    },
    close: async () => {
      await source.return(undefined);
    },
  };
}

async function* sheetXml(rows: Rows, columns: readonly DocumentColumn[], maxSheetRows: number): AsyncGenerator<string> {
  let isFull = false;
  try {
    yield SHEET_START + headerXml(tableHeader(columns));
    for (let number = 2; number <= maxSheetRows; number += 1) {
      const row = await rows.next();
      if (row === null) break;
      yield rowXml(number, row);
    }
    isFull = await rows.peek();
    yield SHEET_END;
  } finally {
    // Reached without its end where the reader has gone.
    if (!isFull) await rows.close();
  }
}

/** A stream's chunks are dear, and a row is short. */
async function* inChunks(source: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const text of source) {
    chunk += text;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

function batchXml({ name, status, counts, createdAt, startedAt, completedAt }: ResultBatch): string {
  const text = (value: string | null): TableCell => (value === null ? { kind: 'empty' } : { kind: 'text', value });
  const time = (at: Date | null) => text(at?.toISOString() ?? null);
  const lines: [string, TableCell][] = [
    ['batch_name', text(name)],
    ['status', text(status)],
    ['created_at', time(createdAt)],
    ['started_at', time(startedAt)],
    ['completed_at', time(completedAt)],
    ...Object.entries(counts).map(([state, count]): [string, TableCell] => [
      state,
      { kind: 'number', value: String(count) },
    ]),
  ];
  const rows = lines.map(([label, cell], index) => rowXml(index + 2, [{ kind: 'text', value: label }, cell]));
  return SHEET_START + headerXml(['batch', 'value']) + rows.join('') + SHEET_END;
}

/** What holds the sheets together, by path. */
function workbookParts(sheets: readonly string[]): { readonly [path: string]: string } {
  const numbered = sheets.map((name, index) => ({ name: escapeXml(name), number: index + 1 }));
  const stylesId = `rId${sheets.length + 1}`;
  const part = (path: string, type: string) =>
    `<Override PartName="${path}" ContentType="${SPREADSHEET}.${type}+xml"/>`;
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
  return {
    'xl/styles.xml': STYLES_XML,
    'xl/workbook.xml': `${XML}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${OFFICE}"><sheets>${numbered
      .map(({ name, number }) => `<sheet name="${name}" sheetId="${number}" r:id="rId${number}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${XML}<Relationships xmlns="${PACKAGE}/relationships">${numbered
      .map(({ number }) => relation(`rId${number}`, 'worksheet', `worksheets/sheet${number}.xml`))
      .join('')}${relation(stylesId, 'styles', 'styles.xml')}</Relationships>`,
    '_rels/.rels': `${XML}<Relationships xmlns="${PACKAGE}/relationships">${relation('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    '[Content_Types].xml': `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${part('/xl/workbook.xml', 'sheet.main')}${part('/xl/styles.xml', 'styles')}${numbered
      .map(({ number }) => part(`/xl/worksheets/sheet${number}.xml`, 'worksheet'))
      .join('')}</Types>`,
  };
}
