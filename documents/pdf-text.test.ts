import { PDFDocument, StandardFonts } from 'pdf-lib';
import { expect, test } from 'vitest';
import { pdfText } from './pdf-text.ts';
import { encryptedPdf, samplePdf } from './testing/sample-files.ts';

/** A PDF with a page for each list of lines. */
async function pdfOf(pages: readonly (readonly string[])[]): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (const lines of pages) {
    const page = pdf.addPage([400, 400]);
    for (const [index, line] of lines.entries()) page.drawText(line, { x: 20, y: 350 - index * 20, size: 12, font });
  }
  return pdf.save();
}

test('gives the text of every page under its number, line by line', async () => {
  const bytes = await pdfOf([['Invoice 4711', 'Total: 12.50 EUR'], [], ['Page three']]);
  expect(await pdfText(bytes)).toBe('[page 1]\nInvoice 4711\nTotal: 12.50 EUR\n\n[page 2]\n\n\n[page 3]\nPage three');
});

test('gives nothing for pages without text', async () => {
  expect(await pdfText(await samplePdf({ pages: 3, text: '' }))).toBeNull();
});

test('throws for a file that was never recognised', async () => {
  await expect(pdfText(Buffer.from('no PDF'))).rejects.toThrow('is corrupt');
  await expect(pdfText(await encryptedPdf({ hasPassword: true }))).rejects.toThrow('is encrypted');
});
