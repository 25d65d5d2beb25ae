import type { DocumentLimits, Recognition } from '../domain/document-facts.ts';
import { COSTLY, DocumentThreads, type ThreadBounds, type UnknownFile } from './document-threads.ts';

/** Tells what a file is, in a thread of its own: one that takes too much is refused as `costly`. */
export class Recogniser {
  readonly #threads: DocumentThreads;

  constructor(bounds?: ThreadBounds) {
    this.#threads = new DocumentThreads(bounds);
  }

  /** Throws what reading the file throws, and for a fault of the thread itself. */
  async recognise(file: UnknownFile, limits: DocumentLimits): Promise<Recognition> {
    const answer = await this.#threads.ask<Recognition>(file, { kind: 'recognise', limits });
    return answer === COSTLY ? { kind: 'fault', fault: 'costly' } : answer;
  }
}
