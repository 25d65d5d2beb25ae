import { getDocumentProxy } from 'unpdf';

/** A PDF that was opened, until it is closed. */
export interface PdfDocument {
  readonly pages: number;
  isEncrypted(): Promise<boolean>;
  /** The text of a page, the first of which is 1, with a line break at the end of each line. */
  textOf(page: number): Promise<string>;
  close(): Promise<void>;
}

/** Opens a PDF, or says why that cannot be done. The parser takes the bytes over: they are not to be used any more. */
export async function openPdf(bytes: Uint8Array): Promise<PdfDocument | 'encrypted' | 'corrupt'> {
  try {
    // It runs no script of the file, fetches nothing, and says nothing to the console.
    const pdf = await getDocumentProxy(bytes, { verbosity: 0, useSystemFonts: false, disableFontFace: true });
    return {
      pages: pdf.numPages,
      isEncrypted: async () => {
        const { info } = await pdf.getMetadata();
        return 'EncryptFilterName' in info && info.EncryptFilterName !== null;
      },
      textOf: async (number) => {
        const page = await pdf.getPage(number);
        const { items } = await page.getTextContent();
        page.cleanup();
        return items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
      },
      close: () => pdf.loadingTask.destroy(),
    };
  } catch (error) {
    return error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'corrupt';
  }
}
