import { PDFDocument, StandardFonts } from 'pdf-lib';
import { encryptedPdf, sampleJpeg, samplePdf, samplePng, sampleWebp } from '../../documents/testing/sample-files.ts';

/** What the columns of a run over mixed documents are, and a row of them. */
export const MIXED_COLUMNS = [
  { name: 'vendor', required: true },
  { name: 'date', type: 'date' },
  { name: 'total', type: 'currency' },
] as const;
export interface MixedRow {
  readonly vendor: string;
  readonly date: string;
  readonly total: string;
}

/** How a file ends: refused at its upload, or as a document. */
export type MixedEnd =
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'succeeded'; readonly rows: readonly MixedRow[]; readonly pages: readonly (number | null)[] };

export interface MixedFile {
  readonly name: string;
  readonly content: Uint8Array;
  readonly end: MixedEnd;
}

const PAGE_ROWS = 4;

/** Files of every kind by turns; `label` makes their contents differ from those of another label. */
export async function mixedDocuments(count: number, label: string): Promise<MixedFile[]> {
  const files: MixedFile[] = [];
  for (let index = 0; index < count; index += 1) {
    const make = KINDS[index % KINDS.length];
    if (make !== undefined) files.push(await make(`${label} ${index}`, index));
  }
  return files;
}

type Make = (name: string, seed: number) => Promise<MixedFile>;

const KINDS: readonly Make[] = [
  (name, seed) => pdfTable(name, rowsOf(name, seed, 3)),
  (name, seed) => pdfTable(name, rowsOf(name, seed, PAGE_ROWS + 2)),
  async (name, seed) => scan(`${name}.png`, (text) => samplePng({ text }), rowsOf(name, seed, 1)),
  async (name, seed) => scan(`${name}.jpg`, sampleJpeg, rowsOf(name, seed, 1)),
  async (name, seed) => scan(`${name}.webp`, sampleWebp, rowsOf(name, seed, 1)),
  async (name, seed) => csv(name, rowsOf(name, seed, 5)),
  async (name, seed) => text(name, rowsOf(name, seed, 2)),
  // The name says nothing about what a file is.
  async (name, seed) => ({ ...(await pdfTable(name, rowsOf(name, seed, 1))), name: `${name}.csv` }),
  async (name, seed) => text(name, rowsOf(name, seed, 1), '[[sim:rows=wrong_type]][[sim:once]]'),
  async (name, seed) => ({
    ...text(name, rowsOf(name, seed, 1), '[[sim:rows=broken]]'),
    end: { kind: 'failed', code: 'rows_do_not_fit' },
  }),
  async (name, seed) => ({
    ...text(name, rowsOf(name, seed, 1), '[[sim:rows=missing:vendor]]'),
    end: { kind: 'failed', code: 'rows_do_not_fit' },
  }),
  async (name, seed) => ({
    ...text(name, rowsOf(name, seed, 1), '[[sim:invalid]]'),
    end: { kind: 'failed', code: 'request_refused' },
  }),
  async (name) => refused(`${name}.pdf`, (await samplePdf()).subarray(0, 300), 'document_corrupt'),
  async (name) => refused(`${name}.pdf`, await encryptedPdf({ hasPassword: true }), 'document_encrypted'),
  async (name) => refused(`${name}.txt`, new Uint8Array(), 'document_empty'),
  async (name) =>
    refused(`${name}.pdf`, Buffer.from('PK\x03\x04 an archive of another kind\x00\x00'), 'document_type_unsupported'),
];

function rowsOf(name: string, seed: number, count: number): MixedRow[] {
  return Array.from({ length: count }, (_, index) => ({
    vendor: `Vendor of ${name}`,
    date: `2026-${String((seed % 12) + 1).padStart(2, '0')}-${String(index + 10)}`,
    total: `${seed * 10 + index}.50`,
  }));
}

function succeeded(rows: readonly MixedRow[], pageOf: (index: number) => number | null): MixedEnd {
  return { kind: 'succeeded', rows, pages: rows.map((_, index) => pageOf(index)) };
}

function refused(name: string, content: Uint8Array, code: string): MixedFile {
  return { name, content, end: { kind: 'refused', code } };
}

/** A table, which goes on on the next page under the same head. */
async function pdfTable(name: string, rows: readonly MixedRow[]): Promise<MixedFile> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (let first = 0; first < rows.length; first += PAGE_ROWS) {
    const page = pdf.addPage([500, 300]);
    const lines = [['Vendor', 'Date', 'Total'], ...rows.slice(first, first + PAGE_ROWS).map(Object.values)];
    for (const [line, cells] of lines.entries())
      for (const [cell, text] of cells.entries())
        page.drawText(String(text), { x: 20 + cell * 160, y: 250 - line * 20, size: 10, font });
  }
  const end = succeeded(rows, (index) => 1 + Math.floor(index / PAGE_ROWS));
  return { name: `${name}.pdf`, content: await pdf.save(), end };
}

function scan(name: string, draw: (text: string) => Uint8Array, rows: readonly MixedRow[]): MixedFile {
  return { name, content: draw(namedValues(rows)), end: succeeded(rows, () => 1) };
}

function csv(name: string, rows: readonly MixedRow[]): MixedFile {
  const lines = ['Vendor;Date;Total', ...rows.map((row) => Object.values(row).join(';'))];
  return { name: `${name}.csv`, content: Buffer.from(lines.join('\r\n')), end: succeeded(rows, () => 1) };
}

function text(name: string, rows: readonly MixedRow[], marks = ''): MixedFile {
  const content = Buffer.from(`${namedValues(rows)}\n${marks}\n`);
  return { name: `${name}.txt`, content, end: succeeded(rows, () => 1) };
}

function namedValues(rows: readonly MixedRow[]): string {
  return rows.map(({ vendor, date, total }) => `Vendor: ${vendor}\nDate: ${date}\nTotal: ${total}`).join('\n');
}
