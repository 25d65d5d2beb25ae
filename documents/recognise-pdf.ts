import type { DocumentFault, DocumentLimits, Recognition } from '../domain/document-facts.ts';
import { estimateTextTokens } from '../domain/text-tokens.ts';
import { openPdf, type PdfDocument } from './open-pdf.ts';

/** Readers look for the end of a PDF in its last so many bytes; one that is cut short has none there. */
const TAIL_BYTES = 1_024;
const END_OF_FILE = '%%EOF';

/** Opens a PDF and reads all of its pages. One that opens without a password, yet is encrypted, is refused by providers. */
export async function recognisePdf(bytes: Uint8Array, { maxPages }: DocumentLimits): Promise<Recognition> {
  if (!hasEnd(bytes)) return faulty('corrupt');
  const opened = await openPdf(bytes);
  if (typeof opened === 'string') return faulty(opened);
  try {
    if (await opened.isEncrypted()) return faulty('encrypted');
    const { pages } = opened;
    if (pages > maxPages) return faulty('too_many_pages');
    const textTokens = await countTokens(opened);
    return { kind: 'document', facts: { mediaType: 'application/pdf', pages, textTokens, width: null, height: null } };
  } catch {
    // Whatever a parser throws in the middle of a file says that the file cannot be read.
    return faulty('corrupt');
  } finally {
    await opened.close();
  }
}

async function countTokens(pdf: PdfDocument): Promise<number> {
  let tokens = 0;
  for (let page = 1; page <= pdf.pages; page += 1) {
    const text = await pdf.textOf(page);
    if (text.trim() !== '') tokens += estimateTextTokens(text);
  }
  return tokens;
}

function hasEnd(bytes: Uint8Array): boolean {
  const tail = bytes.subarray(-TAIL_BYTES);
  return Buffer.from(tail.buffer, tail.byteOffset, tail.byteLength).includes(END_OF_FILE);
}

function faulty(fault: DocumentFault): Recognition {
  return { kind: 'fault', fault };
}
