import { openPdf } from './open-pdf.ts';

/**
 * The text that stands in a PDF, each page under a line such as `[page 2]`, for a model that takes no PDF; null where no page
 * has any, as in a scan. Pages without text are marked all the same, so that page numbers hold. For files that were
 * recognised as a PDF: throws for one that cannot be opened. The bytes are not to be used any more.
 */
export async function pdfText(bytes: Uint8Array): Promise<string | null> {
  const pdf = await openPdf(bytes);
  if (typeof pdf === 'string') throw new Error(`a PDF that was recognised as one is ${pdf}`);
  try {
    const pages: string[] = [];
    let hasText = false;
    for (let page = 1; page <= pdf.pages; page += 1) {
      const text = (await pdf.textOf(page)).trim();
      if (text !== '') hasText = true;
      pages.push(`[page ${page}]\n${text}`);
    }
    return hasText ? pages.join('\n\n') : null;
  } finally {
    await pdf.close();
  }
}
