import { type FileHandle, open } from 'node:fs/promises';

const FLUSH_CHARACTERS = 512 * 1024;

/** Writes lines to a file that comes into being with the first of them; memory stays at one block. */
export interface LineWriter {
  write(line: string | Buffer): void;
  /** Waits until what was written so far is in the file. */
  flush(force?: boolean): Promise<void>;
  /** Resolves to the size in bytes, 0 when there is no file; `cutBytes` are cut off the end first. */
  close(cutBytes?: number): Promise<number>;
}

export function createLineWriter(path: string, lineEnd: '\n' | '\r\n' = '\n'): LineWriter {
  let file: FileHandle | undefined;
  let pending: (string | Buffer)[] = [];
  let pendingSize = 0;
  let bytes = 0;

  const append = async (data: string | Buffer) => {
    file ??= await open(path, 'w');
    const { bytesWritten } = typeof data === 'string' ? await file.write(data) : await file.write(data);
    bytes += bytesWritten;
  };
  const flush = async (force = false) => {
    if (pendingSize === 0 || (!force && pendingSize < FLUSH_CHARACTERS)) return;
    const parts = pending;
    pending = [];
    pendingSize = 0;
    await append(
      parts.every((part) => typeof part === 'string')
        ? parts.join('')
        : Buffer.concat(parts.map((p) => Buffer.from(p))),
    );
  };
  return {
    flush,
    write(line) {
      pending.push(line, lineEnd);
      pendingSize += line.length + lineEnd.length;
    },
    async close(cutBytes = 0) {
      await flush(true);
      const keep = Math.max(bytes - cutBytes, 0);
      if (cutBytes > 0) await file?.truncate(keep);
      await file?.close();
      return keep;
    },
  };
}
