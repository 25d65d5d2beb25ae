import { crc32 } from 'node:zlib';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDocumentRows } from '../../contracts/document-rows.ts';
import type { DocumentColumn } from '../../domain/document.ts';
import { type DocumentContent, extractionRequest, repairRequest } from '../../domain/extraction-request.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import type { BatchProvider } from '../../providers/provider.ts';
import { type Simulators, startSimulators } from '../../simulators/start.ts';
import { ADAPTERS } from './adapters.ts';

const COLUMNS: readonly DocumentColumn[] = [
  { name: 'Rechnungs-Nr.', description: null, type: 'text', required: true },
  { name: 'due', description: 'DD/MM/YYYY', type: 'date', required: false },
  { name: 'Total amount', description: null, type: 'currency', required: true },
  { name: 'paid', description: null, type: 'boolean', required: false },
];
const LINES = ['Rechnungs-Nr.: R-1', 'Due: 03/04/2026', 'Total amount: 1.234,50 EUR', 'Paid: no'];
const ROW = { 'Rechnungs-Nr.': 'R-1', due: '2026-04-03', 'Total amount': '1234.50', paid: false };

async function pdfOf(lines: readonly string[]): Promise<DocumentContent> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  pdf.addPage();
  const page = pdf.addPage();
  for (const [index, line] of lines.entries()) page.drawText(line, { x: 40, y: 700 - 20 * index, size: 11, font });
  return { form: 'file', mediaType: 'application/pdf', base64: Buffer.from(await pdf.save()).toString('base64') };
}

/** A PNG without pixels that says the lines in a text chunk. */
function imageOf(lines: readonly string[]): DocumentContent {
  const body = Buffer.from(`tEXtComment\0${lines.join('\n')}`, 'latin1');
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(body.length - 4);
  ends.writeUInt32BE(crc32(body), 4);
  const png = [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ends.subarray(0, 4), body, ends.subarray(4)];
  return { form: 'image', mediaType: 'image/png', base64: Buffer.concat(png).toString('base64') };
}

function textOf(lines: readonly string[]): DocumentContent {
  return { form: 'text', text: lines.join('\n') };
}

describe.each(ADAPTERS)('$provider', ({ connect, settings, samples }) => {
  let simulators: Simulators;
  let provider: BatchProvider;

  beforeAll(async () => {
    simulators = await startSimulators({ settings });
    provider = connect(simulators, { requestTimeoutMs: 10_000, idleTimeoutMs: 10_000 });
  });
  afterAll(() => simulators.close());

  async function replyTo(request: JsonObject): Promise<string> {
    const { signal } = new AbortController();
    const { model } = samples[0];
    const asked = { endpoint: 'chat.completions', model, request, defaultMaxOutputTokens: 1_000, signal } as const;
    const answer = await provider.complete(asked);
    if (answer.kind !== 'completed') throw new Error(`the request ${answer.code}`);
    const body = JSON.parse(answer.body) as { choices: [{ message: { content: string } }] };
    return body.choices[0].message.content;
  }

  const requestOf = (content: DocumentContent) =>
    extractionRequest({ columns: COLUMNS, content, isSchemaTaken: true, maxOutputTokens: 2_000 });

  test('gives the rows of a PDF, an image and a text', async () => {
    const contents = [await pdfOf(LINES), imageOf(LINES), textOf(LINES)];
    for (const [index, content] of contents.entries()) {
      const page = content.form === 'file' ? 2 : 1;
      const read = readDocumentRows(await replyTo(requestOf(content)), COLUMNS);
      expect(read, String(index)).toEqual({ ok: true, rows: [ROW], provenance: [{ page, confidence: 0.9 }] });
    }
  });

  test.for([
    { mark: 'rows=broken', paths: [''] },
    { mark: 'rows=missing:Total amount', paths: ['rows[0].total_amount'] },
    { mark: 'rows=wrong_type', paths: ['rows[0].rechnungs_nr'] },
  ])('repairs $mark with one more request', async ({ mark, paths }) => {
    for (const contentOf of [pdfOf, imageOf, textOf]) {
      const first = requestOf(await contentOf([`[[sim:${mark}]] [[sim:once]]`, ...LINES]));
      const reply = await replyTo(first);
      const broken = readDocumentRows(reply, COLUMNS);
      if (broken.ok) throw new Error('the reply fits');
      expect(broken.problems.map(({ path }) => path)).toEqual(paths);
      const repaired = readDocumentRows(await replyTo(repairRequest(first, reply, broken.problems)), COLUMNS);
      expect(repaired).toMatchObject({ ok: true, rows: [ROW] });
    }
  });
});
