import { COSTLY, DocumentThreads, type ThreadBounds } from './document-threads.ts';

/** Reads the text of PDFs in a thread of its own, since a small file may unpack to gigabytes. */
export class PdfTextReader {
  readonly #threads: DocumentThreads;

  constructor(bounds?: ThreadBounds) {
    this.#threads = new DocumentThreads(bounds);
  }

  /** As `pdfText`; null as well for a file that takes too much. */
  async read(file: Uint8Array): Promise<string | null> {
    const whole = {
      byteLength: file.length,
      read: async function* () {
        yield file;
      },
    };
    const answer = await this.#threads.ask<string | null>(whole, { kind: 'pdf_text' });
    return answer === COSTLY ? null : answer;
  }
}
