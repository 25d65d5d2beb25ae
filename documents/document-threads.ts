import { Worker } from 'node:worker_threads';
import type { DocumentQuestion } from './document-thread.ts';

const MIB = 1024 * 1024;

/** What reading one file may take before it is called costly. */
export interface ThreadBounds {
  /** Files that are read at once; others wait their turn. */
  readonly threads: number;
  readonly timeoutMs: number;
  /** Of a thread, its heap and its buffers together. */
  readonly memoryBytes: number;
}

export const DEFAULT_THREAD_BOUNDS: ThreadBounds = { threads: 2, timeoutMs: 30_000, memoryBytes: 512 * MIB };

/** How often a thread's memory is looked at. Unpacking gains some 20 MB in it. */
const WATCH_MS = 50;
/** A thread that has nothing to do ends after it. */
const IDLE_MS = 10_000;

/** A file that a stranger made. It is read once its turn has come. */
export interface UnknownFile {
  readonly byteLength: number;
  readonly read: () => AsyncIterable<Uint8Array>;
}

interface Thread {
  readonly worker: Worker;
  idle: NodeJS.Timeout | null;
}

const THREAD = new URL('./document-thread.ts', import.meta.url);

/** The file takes more time or memory than the bounds. */
export const COSTLY = Symbol('costly');

/**
 * Reads files in threads that know no environment and may take so much time and memory. What an attacker unpacks to
 * gigabytes, or keeps a parser busy with, costs a thread; the process goes on.
 */
export class DocumentThreads {
  readonly #bounds: ThreadBounds;
  readonly #idle: Thread[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(bounds: ThreadBounds = DEFAULT_THREAD_BOUNDS) {
    this.#bounds = bounds;
  }

  /** What `document-thread.ts` answers. Throws what reading the file throws, and for a fault of the thread itself. */
  async ask<Answer>(file: UnknownFile, question: DocumentQuestion): Promise<Answer | typeof COSTLY> {
    await this.#takeTurn();
    try {
      const bytes = await readWhole(file);
      return await this.#ask<Answer>(this.#idle.pop() ?? this.#start(), bytes, question);
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #takeTurn(): Promise<void> {
    while (this.#busy >= this.#bounds.threads) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
    this.#busy += 1;
  }

  #start(): Thread {
    const maxOldGenerationSizeMb = Math.floor(this.#bounds.memoryBytes / MIB);
    return { worker: new Worker(THREAD, { env: {}, resourceLimits: { maxOldGenerationSizeMb } }), idle: null };
  }

  async #ask<Answer>(
    thread: Thread,
    bytes: Uint8Array<ArrayBuffer>,
    question: DocumentQuestion,
  ): Promise<Answer | typeof COSTLY> {
    const { worker } = thread;
    if (thread.idle !== null) clearTimeout(thread.idle);
    worker.ref();
    const { promise, resolve, reject } = Promise.withResolvers<Answer | typeof COSTLY>();
    const onError = (error: Error) => (isOutOfMemory(error) ? resolve(COSTLY) : reject(error));
    const onExit = () => resolve(COSTLY);
    worker.once('message', resolve);
    worker.once('error', onError);
    worker.once('exit', onExit);
    const deadline = setTimeout(() => resolve(COSTLY), this.#bounds.timeoutMs);
    const watch = setInterval(() => void this.#watch(worker, () => resolve(COSTLY)), WATCH_MS);
    worker.postMessage({ bytes, question }, [bytes.buffer]);
    try {
      const answer = await promise;
      if (answer === COSTLY) await worker.terminate();
      else this.#rest(thread);
      return answer;
    } catch (error) {
      await worker.terminate();
      throw error;
    } finally {
      clearTimeout(deadline);
      clearInterval(watch);
      worker.off('message', resolve);
      worker.off('error', onError);
      worker.off('exit', onExit);
    }
  }

  /** Buffers lie outside of the heap that the thread's own limit is for. */
  async #watch(worker: Worker, onTooMuch: () => void): Promise<void> {
    try {
      const { used_heap_size: heap, external_memory: buffers } = await worker.getHeapStatistics();
      if (heap + (buffers ?? 0) > this.#bounds.memoryBytes) onTooMuch();
    } catch {
      // It has ended, which its own event tells.
    }
  }

  #rest(thread: Thread): void {
    thread.worker.unref();
    this.#idle.push(thread);
    thread.idle = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(thread), 1);
      void thread.worker.terminate();
    }, IDLE_MS).unref();
  }
}

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

async function readWhole({ byteLength, read }: UnknownFile): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(byteLength);
  let at = 0;
  for await (const chunk of read()) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
