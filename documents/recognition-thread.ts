import { parentPort } from 'node:worker_threads';
import type { DocumentLimits } from '../domain/document-facts.ts';
import { recognise } from './recognise.ts';

/** One file after the other, as `Recogniser` sends them. A fault of this code ends the thread, and is told there. */
parentPort?.on('message', ({ bytes, limits }: { bytes: Uint8Array; limits: DocumentLimits }) => {
  void recognise(bytes, limits).then((recognition) => parentPort?.postMessage(recognition));
});
