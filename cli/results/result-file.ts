import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { usageError } from '../errors.ts';
import type { OutputStream } from '../terminal.ts';

/** Where results go. */
export interface ResultSink {
  readonly isStandardOutput: boolean;
  /** Standard output takes text alone. */
  write(content: string | Uint8Array): Promise<void>;
  /** Puts a finished file in its place. */
  finish(): Promise<void>;
  /** Leaves nothing of an unfinished one. */
  discard(): Promise<void>;
}

/**
 * `-` is standard output; any other path a file that appears whole or not at all. Throws a usage error for one that
 * cannot be written.
 */
export async function openResultSink(path: string, standardOutput: OutputStream): Promise<ResultSink> {
  if (path === '-') {
    const write = async (content: string | Uint8Array) => {
      standardOutput.write(typeof content === 'string' ? content : Buffer.from(content).toString());
    };
    return { isStandardOutput: true, write, finish: async () => undefined, discard: async () => undefined };
  }
  try {
    const existing = await stat(path).catch(() => null);
    if (existing?.isDirectory()) throw usageError(`${path} is a folder; name a file.`, '--out');
    // A device or a pipe is written into, never replaced.
    if (existing !== null && !existing.isFile()) return pipeSink(await open(path, 'w'));
    const unfinished = join(dirname(path), `.${basename(path)}.${process.pid}.unfinished`);
    return fileSink(path, unfinished, await open(unfinished, 'w'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw usageError(`${path} cannot be written (${String(error.code)}).`, '--out');
  }
}

function fileSink(path: string, unfinished: string, file: FileHandle): ResultSink {
  return {
    isStandardOutput: false,
    write: (content) => file.appendFile(content),
    async finish() {
      await file.close();
      await rename(unfinished, path);
    },
    async discard() {
      await file.close();
      await rm(unfinished, { force: true });
    },
  };
}

function pipeSink(file: FileHandle): ResultSink {
  const close = () => file.close();
  return { isStandardOutput: false, write: (content) => file.appendFile(content), finish: close, discard: close };
}
