import type { Stack } from './stack-options.ts';

/** The part of `process` that tells when to stop. */
export interface StopSource {
  on(event: string, listener: (...details: unknown[]) => void): unknown;
  off(event: string, listener: (...details: unknown[]) => void): unknown;
  /** Leaves at once; the reaper ends what is still running. */
  exit(code: number): unknown;
}

export interface RunOptions {
  start: (signal: AbortSignal) => Promise<Stack>;
  onReady: (stack: Stack) => void | Promise<void>;
  onProgress: (line: string) => void;
  source?: StopSource;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const ERRORS = ['uncaughtException', 'unhandledRejection'];

/**
 * Runs a stack until a signal or an error nobody caught, stops it in order, also in the middle of its start, and
 * returns the exit code. A second signal does not wait. Rejects when the stack does not start.
 */
export async function runStack({ start, onReady, onProgress, source = process }: RunOptions): Promise<number> {
  const asked = new AbortController();
  let exitCode = 0;

  function stop(): void {
    if (asked.signal.aborted) source.exit(130);
    asked.abort(new Error('the start was called off'));
  }
  function fail(error: unknown): void {
    onProgress(`unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    exitCode = 1;
    asked.abort(error);
  }

  for (const name of STOP_SIGNALS) source.on(name, stop);
  for (const name of ERRORS) source.on(name, fail);
  try {
    const stack = await start(asked.signal);
    try {
      await onReady(stack);
      await aborted(asked.signal);
      onProgress('stopping');
    } finally {
      await stack.stop();
    }
  } catch (error) {
    if (!asked.signal.aborted) throw error;
  } finally {
    for (const name of STOP_SIGNALS) source.off(name, stop);
    for (const name of ERRORS) source.off(name, fail);
  }
  return exitCode;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
