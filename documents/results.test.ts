import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import readWorkbook from 'read-excel-file/node';
import { expect, test } from 'vitest';
import type { ColumnType, DocumentColumn } from '../domain/document.ts';
import type { LineItem } from '../domain/line-item.ts';
import type { BatchTimes, ResultDocument } from './result-table.ts';
import { resultsCsv } from './results-csv.ts';
import { resultsXlsx } from './results-xlsx.ts';

function column(name: string, type: ColumnType = 'text'): DocumentColumn {
  return { name, description: null, type, required: false };
}

function document(rows: readonly LineItem[], more: Partial<ResultDocument> = {}): ResultDocument {
  return {
    documentId: 'doc_1',
    fileName: 'a.pdf',
    status: 'succeeded',
    errorCode: null,
    rows,
    provenance: rows.map(() => ({ page: 1, confidence: 0.5 })),
    ...more,
  };
}

const BATCH: BatchTimes = {
  createdAt: new Date('2026-08-19T10:00:00.000Z'),
  startedAt: new Date('2026-08-19T10:01:00.000Z'),
  completedAt: null,
};
const COLUMNS = [
  column('vendor'),
  column('total', 'currency'),
  column('count', 'number'),
  column('due', 'date'),
  column('paid', 'boolean'),
];
const HEADER = ['document', 'file_name', 'status', 'error', 'page', 'confidence'];
const TIME_NAMES = ['batch_created_at', 'batch_started_at', 'batch_completed_at'];
const NAMES = [...HEADER, ...COLUMNS.map(({ name }) => name), ...TIME_NAMES];
const TIMES = ['2026-08-19T10:00:00.000Z', '2026-08-19T10:01:00.000Z'];
const DOCUMENTS = [
  document([
    { vendor: '=HYPERLINK("http://x")', total: '-1234.50', count: -3, due: '2026-08-19', paid: true },
    { vendor: 'Müller, "Söhne"\n& Co', total: '12345678901234567890.12', count: 0.1, due: '1850-01-01', paid: false },
    { vendor: null, total: null, count: null, due: null, paid: null },
  ]),
  document([], { documentId: 'doc_2', fileName: '+evil.pdf', status: 'failed', errorCode: 'rows_do_not_fit' }),
  document([], { documentId: 'doc_3', fileName: null, status: 'queued' }),
];

/** As RFC 4180 has it; a reader left to guess may take the first line end within quotes. */
const CRLF = { record_delimiter: '\r\n' };

async function csvOf(documents: readonly ResultDocument[], columns = COLUMNS, hasByteOrderMark = false) {
  let text = '';
  for await (const piece of resultsCsv(documents, { columns, batch: BATCH, hasByteOrderMark })) text += piece;
  return text;
}

async function xlsxOf(documents: Iterable<ResultDocument>, columns = COLUMNS, maxSheetRows?: number) {
  const bytes = await buffer(resultsXlsx(documents, { columns, batch: BATCH, ...(maxSheetRows && { maxSheetRows }) }));
  return { bytes, sheets: await readWorkbook(bytes, { trim: false }) };
}

/** The text of a part of a zip file that was written in order, found by its local header. */
function partOf(bytes: Buffer, path: string): string {
  const at = bytes.indexOf(path, 0, 'latin1');
  const start = at + path.length + bytes.readUInt16LE(at - 2);
  return inflateRawSync(bytes.subarray(start)).toString();
}

test('writes every row as CSV, and a line for a document without any', async () => {
  const [header, ...records] = parse(await csvOf(DOCUMENTS), CRLF) as string[][];
  expect(header).toEqual(NAMES);
  expect(records).toEqual(
    [
      [
        'doc_1',
        'a.pdf',
        'succeeded',
        '',
        '1',
        '0.5',
        '\'=HYPERLINK("http://x")',
        '-1234.50',
        '-3',
        '2026-08-19',
        'true',
      ],
      [
        ...['doc_1', 'a.pdf', 'succeeded', '', '1', '0.5', 'Müller, "Söhne"\n& Co', '12345678901234567890.12', '0.1'],
        ...['1850-01-01', 'false'],
      ],
      ['doc_1', 'a.pdf', 'succeeded', '', '1', '0.5', '', '', '', '', ''],
      ['doc_2', "'+evil.pdf", 'failed', 'rows_do_not_fit', '', '', '', '', '', '', ''],
      ['doc_3', '', 'queued', '', '', '', '', '', '', '', ''],
    ].map((record) => [...record, ...TIMES, '']),
  );
});

test.for(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠1'])(
  'writes the text %j as one that no spreadsheet runs',
  async (text) => {
    const [names, values] = parse(await csvOf([document([{ [text]: text }])], [column(text)]), CRLF) as string[][];
    expect([names?.at(-4), values?.at(-4)]).toEqual([`'${text}`, `'${text}`]);
  },
);

test('marks UTF-8 where it is asked to, and only there', async () => {
  expect(await csvOf(DOCUMENTS, COLUMNS, true)).toBe(`\ufeff${await csvOf(DOCUMENTS)}`);
  expect(await csvOf(DOCUMENTS)).toMatch(/^document,/);
});

test('gives its own columns other names where the run has taken theirs', async () => {
  const taken = [column('Status'), column('page'), column('document_page')];
  const [header] = parse(await csvOf([], taken)) as string[][];
  expect(header).toEqual([
    ...['document', 'file_name', 'document_status', 'error', 'document_document_page', 'confidence'],
    ...['Status', 'page', 'document_page', ...TIME_NAMES],
  ]);
});

test('writes a workbook of the rows', async () => {
  const { sheets } = await xlsxOf(DOCUMENTS);
  expect(sheets.map(({ sheet }) => sheet)).toEqual(['Results']);
  expect(sheets[0]?.data).toEqual(
    [
      NAMES,
      [
        ...['doc_1', 'a.pdf', 'succeeded', null, 1, 0.5, '=HYPERLINK("http://x")', -1234.5, -3],
        ...[new Date('2026-08-19'), true],
      ],
      [
        ...['doc_1', 'a.pdf', 'succeeded', null, 1, 0.5, 'Müller, "Söhne"\n& Co', '12345678901234567890.12', 0.1],
        ...['1850-01-01', false],
      ],
      ['doc_1', 'a.pdf', 'succeeded', null, 1, 0.5, null, null, null, null, null],
      ['doc_2', '+evil.pdf', 'failed', 'rows_do_not_fit', null, null, null, null, null, null, null],
      ['doc_3', null, 'queued', null, null, null, null, null, null, null, null],
    ].map((row, index) => (index === 0 ? row : [...row, ...TIMES, null])),
  );
});

test('has no formula in a workbook, and only texts where a text is', async () => {
  const { bytes } = await xlsxOf(DOCUMENTS);
  const xml = partOf(bytes, 'xl/worksheets/sheet1.xml');
  expect(xml).not.toMatch(/<f[ >]/);
  expect(xml).toContain('t="inlineStr" s="1"><is><t>=HYPERLINK(');
});

test('writes the same bytes for the same results', async () => {
  expect((await xlsxOf(DOCUMENTS)).bytes.equals((await xlsxOf(DOCUMENTS)).bytes)).toBe(true);
});

test('keeps any text in both', async () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 5 }), async (texts) => {
      const documents = [document(texts.map((vendor) => ({ vendor })))];
      const columns = [column('vendor')];
      const records = parse(await csvOf(documents, columns), CRLF) as string[][];
      const read = records.slice(1).map((record) => record.at(-4) ?? '');
      expect(read.map((each) => (/^'[=+\-@\t\r\n＝＋－＠]/.test(each) ? each.slice(1) : each))).toEqual(
        texts.map((each) => each.toWellFormed()),
      );
      const { sheets } = await xlsxOf(documents, columns);
      const cells = sheets[0]?.data.slice(1).map((row) => row.at(-4));
      const kept = texts.map((each) =>
        each
          .toWellFormed()
          .replace(/\r\n?/g, '\n')
          .replace(/[^\t\n\u0020-\ufffd\u{10000}-\u{10ffff}]/gu, ''),
      );
      expect(cells?.map((cell) => cell ?? '')).toEqual(kept);
    }),
    { numRuns: 40 },
  );
});

test('goes on in another sheet where one is full', async () => {
  const documents = [document(Array.from({ length: 5 }, (_, index) => ({ vendor: `v${index}` })))];
  const { sheets } = await xlsxOf(documents, [column('vendor')], 3);
  expect(sheets.map(({ sheet, data }) => [sheet, data.map((row) => row.at(-4))])).toEqual([
    ['Results', ['vendor', 'v0', 'v1']],
    ['Results_2', ['vendor', 'v2', 'v3']],
    ['Results_3', ['vendor', 'v4']],
  ]);
  const full = await xlsxOf(documents, [column('vendor')], 6);
  expect(full.sheets.map(({ sheet }) => sheet)).toEqual(['Results']);
});

test('takes rows only as fast as they are read', async () => {
  let taken = 0;
  async function* endless() {
    for (;;) {
      taken += 1;
      yield document([{ vendor: `vendor ${Math.sin(taken)} ${Math.cos(taken)}` }]);
      if (taken % 100 === 0) await setImmediate();
    }
  }
  const stream = resultsXlsx(endless(), { columns: COLUMNS, batch: BATCH });
  const reader = stream[Symbol.asyncIterator]();
  await reader.next();
  let before = -1;
  // It settles once every buffer on the way is full.
  while (taken !== before) {
    before = taken;
    for (let turn = 0; turn < 200; turn += 1) await setImmediate();
  }
  expect(taken).toBeLessThan(50_000);
  stream.destroy();
});

test('lets go of the documents when its reader goes', async () => {
  const { promise: letGo, resolve } = Promise.withResolvers<void>();
  async function* endless() {
    try {
      for (;;) yield document([{ vendor: 'a' }]);
    } finally {
      resolve();
    }
  }
  const stream = resultsXlsx(endless(), { columns: COLUMNS, batch: BATCH });
  await stream[Symbol.asyncIterator]().next();
  stream.destroy();
  await letGo;
});

test('fails as its documents do', async () => {
  async function* failing() {
    yield document([{ vendor: 'a' }]);
    throw new Error('the rows are gone');
  }
  await expect(buffer(resultsXlsx(failing(), { columns: COLUMNS, batch: BATCH }))).rejects.toThrow('the rows are gone');
  await expect(
    Array.fromAsync(resultsCsv(failing(), { columns: COLUMNS, batch: BATCH, hasByteOrderMark: false })),
  ).rejects.toThrow('the rows are gone');
});
