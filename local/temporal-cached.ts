import { execFile } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { downloadDirectory, pipDirectory, type TemporalSearch } from './temporal-search.ts';

const run = promisify(execFile);
const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/** The first working `temporal` on PATH. */
export function temporalOnPath({ environment }: TemporalSearch): Promise<string | undefined> {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return firstWorking(folders.map((folder) => join(folder, EXECUTABLE)));
}

/** A working executable that an earlier start fetched. */
export function cachedTemporal({ cacheDirectory }: TemporalSearch): Promise<string | undefined> {
  return firstWorking([
    ...executablesIn(pipDirectory(cacheDirectory)),
    ...executablesIn(downloadDirectory(cacheDirectory)),
  ]);
}

/** Everything below a folder that may be the executable: pip's `bin/temporal`, the SDK's `temporal-sdk-typescript-…`. */
export function executablesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /^temporal(-sdk-typescript-[\d.]+)?(\.exe)?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

/** The first of `paths` that says it is Temporal's command line; a half-written or foreign file does not. */
export async function firstWorking(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if (!isExecutable(path)) continue;
    const version = await run(path, ['--version'], { timeout: 15_000 }).catch(() => undefined);
    if (version?.stdout.startsWith('temporal version')) return path;
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
