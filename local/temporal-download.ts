import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { executablesIn, firstWorking } from './temporal-cached.ts';
import { downloadDirectory, type TemporalSearch } from './temporal-search.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('./temporal-download-main.ts', import.meta.url));
const TOTAL_MS = 5 * 60_000;
const STALL_MS = 20_000;

/**
 * Lets the SDK download the server into our cache, in a process of its own because a download cannot be called off. It
 * fails within a second without a network, and is given up when nothing arrives for 20 seconds.
 */
export async function downloadTemporal(
  { environment, cacheDirectory, onProgress, signal }: TemporalSearch,
  limits: { main: string; stallMs: number } = { main: MAIN, stallMs: STALL_MS },
): Promise<string | undefined> {
  const directory = downloadDirectory(cacheDirectory);
  mkdirSync(directory, { recursive: true });
  onProgress('downloading the Temporal server (once, about 50 MB)');
  const over = new AbortController();
  const signals = [over.signal, AbortSignal.timeout(TOTAL_MS), ...(signal ? [signal] : [])];
  const download = run(process.execPath, [limits.main, directory], {
    env: environment,
    signal: AbortSignal.any(signals),
    killSignal: 'SIGKILL',
  }).finally(() => over.abort());
  await Promise.all([download, abortWhenStalled(directory, limits.stallMs, over)]);
  return firstWorking(executablesIn(directory));
}

async function abortWhenStalled(directory: string, stallMs: number, over: AbortController): Promise<void> {
  let bytes = -1;
  while (!over.signal.aborted) {
    const now = bytesIn(directory);
    if (now === bytes) {
      over.abort(new Error('nothing arrives'));
      return;
    }
    bytes = now;
    await delay(stallMs, undefined, { signal: over.signal }).catch(() => undefined);
  }
}

function bytesIn(directory: string): number {
  return readdirSync(directory).reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
