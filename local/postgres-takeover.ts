import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endProcess, identify } from './running-process.ts';

const LEAVING_MS = 15_000;
const RETRY_MS = 250;

/**
 * Ends the server named in the folder's `postmaster.pid` if it still runs. When that number belongs to some other
 * process by now, Postgres would refuse to start; the file then gets our own number, which Postgres passes over because
 * we are its parent. The rest of the file stays: by it Postgres notices backends of a killed server that still run.
 */
export async function endFormerServer(directory: string): Promise<void> {
  const path = join(directory, 'postmaster.pid');
  const [first = '', ...rest] = readLines(path);
  const pid = Number.parseInt(first, 10);
  const running = pid > 0 ? await identify(pid) : undefined;
  if (running === undefined) return;
  if (running.command.includes(directory)) await endProcess(running, [{ signal: 'SIGINT', waitMs: 10_000 }]);
  else writeFileSync(path, [String(process.pid), ...rest].join('\n'));
}

/** Starts again while the backends of a killed server are still on their way out, which takes moments. */
export async function retryWhileLeaving<T>(start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const deadline = performance.now() + LEAVING_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const leaving = error instanceof Error && error.message.includes('pre-existing shared memory block');
      if (!leaving || performance.now() > deadline) throw error;
      await delay(RETRY_MS, undefined, signal === undefined ? {} : { signal });
    }
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
