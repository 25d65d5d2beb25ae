import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { SpaceLease } from './spool-space.ts';

/** Small enough to cost little memory, large enough that a write costs little time. A short body gets by with less. */
const BATCH_BYTES = 512 * 1024;
const FIRST_BATCH_BYTES = 16 * 1024;

/** Writes a row into a buffer from an offset on. Returns the offset behind it. */
type WriteRow<Row> = (rows: Buffer, start: number, row: Row) => number;

export interface SpoolFileOptions {
  /** Folder of temporary files; made when missing. */
  readonly directory: string;
  /** Bytes kept in memory before a file is opened. */
  readonly memoryBytes: number;
  readonly lease: SpaceLease;
}

/**
 * Rows on their way through: in memory while few, then in a temporary file. The file loses its name as soon as it is
 * open, so that nothing of it outlives the process, however that ends. `add` and `flush` rows, `finish` once, read
 * `batches` any number of times, `close` always. Disk trouble is `dependency_unavailable`.
 */
export class SpoolFile {
  readonly #options: SpoolFileOptions;
  #open: Buffer = Buffer.alloc(0);
  #openBytes = 0;
  #full: Buffer[] = [];
  #inMemory: Buffer[] = [];
  #bytes = 0;
  #file: FileHandle | null = null;
  readonly #writtenBytes: number[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SpoolFileOptions) {
    this.#options = options;
  }

  /** Takes one row of at most `maxBytes`. True asks for a `flush` before the next. */
  add<Row>(row: Row, maxBytes: number, write: WriteRow<Row>): boolean {
    if (this.#openBytes + maxBytes > this.#open.length) this.#turnBatch(maxBytes);
    this.#openBytes = write(this.#open, this.#openBytes, row);
    return this.#full.length > 0;
  }

  /** Moves full batches on. One write is under way at most, while the next rows are gathered. */
  async flush(): Promise<void> {
    if (this.#full.length === 0) return;
    const batches = this.#full;
    this.#full = [];
    const bytes = batches.reduce((sum, batch) => sum + batch.length, 0);
    this.#options.lease.take(bytes);
    this.#bytes += bytes;
    await this.#writing;
    this.#inMemory.push(...batches);
    if (this.#file === null && this.#bytes <= this.#options.memoryBytes) return;
    const waiting = this.#inMemory;
    this.#inMemory = [];
    this.#writing = this.#write(waiting);
    // Whoever awaits it next meets a failure; until then nobody does.
    this.#writing.catch(() => {});
  }

  async finish(): Promise<void> {
    this.#turnBatch(0);
    await this.flush();
    await this.#writing;
  }

  /** Every row in order, in batches of whole rows, which the reader may change. */
  async *batches(): AsyncGenerator<Buffer> {
    for (const batch of this.#inMemory) yield Buffer.from(batch);
    let position = 0;
    for (const length of this.#writtenBytes) {
      yield await this.#read(position, length);
      position += length;
    }
  }

  /** Safe to call at any point. The lease is its owner's to release. */
  async close(): Promise<void> {
    await this.#writing.catch(() => {});
    this.#open = Buffer.alloc(0);
    this.#openBytes = 0;
    this.#full = [];
    this.#inMemory = [];
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  #turnBatch(nextBytes: number): void {
    const usualBytes = this.#open.length === 0 ? FIRST_BATCH_BYTES : BATCH_BYTES;
    if (this.#openBytes > 0) this.#full.push(this.#open.subarray(0, this.#openBytes));
    this.#open = Buffer.allocUnsafeSlow(nextBytes === 0 ? 0 : Math.max(usualBytes, nextBytes));
    this.#openBytes = 0;
  }

  async #write(batches: readonly Buffer[]): Promise<void> {
    try {
      this.#file ??= await openUnnamed(this.#options.directory);
      for (const batch of batches) {
        await this.#file.appendFile(batch);
        this.#writtenBytes.push(batch.length);
      }
    } catch (error) {
      const message = 'The server could not keep the body on disk. Nothing was stored; try again.';
      throw new GatewayError('dependency_unavailable', message, { cause: error, retryAfterSeconds: 30 });
    }
  }

  async #read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length; ) {
      const { bytesRead = 0 } = (await this.#file?.read(buffer, done, length - done, position + done)) ?? {};
      if (bytesRead === 0) throw new Error('a spool file is shorter than what was written to it');
      done += bytesRead;
    }
    return buffer;
  }
}

async function openUnnamed(directory: string): Promise<FileHandle> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${randomUUID()}.spool`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}
