import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { SpaceLease } from './spool-space.ts';

/** Small enough to cost little memory, large enough that a write costs little time. */
const BATCH_CHARS = 512 * 1024;

export interface SpoolFileOptions {
  /** Folder of temporary files; made when missing. */
  readonly directory: string;
  /** Bytes kept in memory before a file is opened. */
  readonly memoryBytes: number;
  readonly lease: SpaceLease;
}

/**
 * Rows of text on their way through: in memory while few, then in a temporary file. The file loses its name as soon as
 * it is open, so that nothing of it outlives the process, however that ends. `add` and `flush` rows, `finish` once, read
 * `batches` any number of times, `close` always. Disk trouble is `dependency_unavailable`.
 */
export class SpoolFile {
  readonly #options: SpoolFileOptions;
  #rows: string[] = [];
  #rowChars = 0;
  #inMemory: Buffer[] = [];
  #bytes = 0;
  #file: FileHandle | null = null;
  readonly #writtenBytes: number[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SpoolFileOptions) {
    this.#options = options;
  }

  /** Takes one row, its line end included. True asks for a `flush` before the next. */
  add(row: string): boolean {
    this.#rows.push(row);
    this.#rowChars += row.length;
    return this.#rowChars >= BATCH_CHARS;
  }

  /** Moves the rows gathered so far on. One write is under way at most, while the next rows are gathered. */
  async flush(): Promise<void> {
    if (this.#rows.length === 0) return;
    const batch = Buffer.from(this.#rows.join(''));
    this.#rows = [];
    this.#rowChars = 0;
    this.#options.lease.take(batch.length);
    this.#bytes += batch.length;
    await this.#writing;
    this.#inMemory.push(batch);
    if (this.#file === null && this.#bytes <= this.#options.memoryBytes) return;
    const batches = this.#inMemory;
    this.#inMemory = [];
    this.#writing = this.#write(batches);
    // Whoever awaits it next meets a failure; until then nobody does.
    this.#writing.catch(() => {});
  }

  async finish(): Promise<void> {
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
    this.#rows = [];
    this.#inMemory = [];
    const file = this.#file;
    this.#file = null;
    await file?.close();
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
