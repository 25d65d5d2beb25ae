import { parentPort } from 'node:worker_threads';
import type { DocumentLimits } from '../domain/document-facts.ts';
import { pdfText } from './pdf-text.ts';
import { recognise } from './recognise.ts';

/** What is to be told of a file. */
export type DocumentQuestion =
  | { readonly kind: 'recognise'; readonly limits: DocumentLimits }
  | { readonly kind: 'pdf_text' };

interface Asked {
  readonly bytes: Uint8Array;
  readonly question: DocumentQuestion;
}

/**
 * One file after the other, as `DocumentThreads` sends them. A fault of this code ends the thread, and is told there; but a PDF
 * whose text the parser stumbles over has none.
 */
parentPort?.on('message', ({ bytes, question }: Asked) => {
  const answer = question.kind === 'recognise' ? recognise(bytes, question.limits) : pdfText(bytes).catch(() => null);
  void answer.then((told) => parentPort?.postMessage(told));
});
