import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Claims a data folder for this process, or throws one sentence that names who has it. The claim is a lock of the
 * operating system (through SQLite, the only lock that Node offers), so it ends with the process however that dies.
 */
export function lockDataDirectory(directory: string): { release(): void } {
  mkdirSync(directory, { recursive: true });
  const holder = join(directory, 'lock.pid');
  const lock = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: 0 });
  try {
    lock.exec('BEGIN IMMEDIATE');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new Error(
      `Batchgate already runs on ${directory}${holderOf(holder)}; stop it first or choose another data folder.`,
      { cause: error },
    );
  }
  writeFileSync(holder, String(process.pid));
  return {
    release: () => {
      if (!lock.isOpen) return;
      rmSync(holder, { force: true });
      lock.close();
    },
  };
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

function holderOf(path: string): string {
  try {
    return ` (process ${readFileSync(path, 'utf8')})`;
  } catch {
    return '';
  }
}
