import { closeSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const MAX_BYTES = 20 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;

/**
 * Opens a log for appending and returns its descriptor, to be handed to a child process as its output. A file over
 * 20 MiB is first set aside as `<path>.1`, so logs of a stack that is started daily stay bounded.
 */
export function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  if (sizeOf(path) > MAX_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

/** The last `count` non-empty lines of a log, oldest first; none when the file cannot be read. */
export function lastLines(path: string, count: number): string[] {
  const size = sizeOf(path);
  if (size === 0) return [];
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes.toString('utf8', 0, read).split('\n');
    return lines
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(-count);
  } finally {
    closeSync(file);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
