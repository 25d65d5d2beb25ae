import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type LaunchedProcess, type LaunchOptions, launchProcess } from './launched-process.ts';
import { lastLines } from './log-file.ts';
import { countFailure, restartDelayMs } from './restart-delay.ts';

/** One server or Node process of the local stack. */
export interface ProcessOptions extends LaunchOptions {
  /** Resolves once the process can be used; its signal is aborted when the process ended or took too long. */
  readyWhen: (signal: AbortSignal) => Promise<void>;
  /** 60 s unless said. */
  readyTimeoutMs?: number;
  /** Runs before each further start, never before the first. */
  beforeRestart?: () => Promise<void>;
  /** Gives up a first start that is under way. */
  signal?: AbortSignal | undefined;
  /** Receives one line when the process died, came back, or could not be started again. */
  log: (line: string) => void;
}

export interface RunningProcess {
  /** The process that runs now; undefined between a death and the moment the next one is ready. */
  pid(): number | undefined;
  /** Ends it for good. */
  stop(): Promise<void>;
}

const REPORTED_LINES = 3;

/** The folder that holds api/, worker/ and local/. */
export const projectDirectory = fileURLToPath(new URL('..', import.meta.url));

/** Command and arguments that run a TypeScript main file on this Node, with `flags`, and end it when this process dies. */
export function nodeCommand(main: string, flags: readonly string[] = []): { command: string; args: string[] } {
  const watch = new URL('./parent-watch-main.ts', import.meta.url);
  return { command: process.execPath, args: [...flags, '--import', watch.href, main] };
}

/**
 * Starts a process and resolves when it is ready. From then on one that dies is reported with the end of its log and
 * started again, with growing pauses, until `stop`. Rejects, with nothing left running, when the first start fails.
 */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const stopping = new AbortController();
  let current: LaunchedProcess | undefined = await launchReady(options, options.signal ?? stopping.signal);

  async function supervise(): Promise<void> {
    let failures = 0;
    while (current !== undefined) {
      const readyAtMs = performance.now();
      const how = await current.ended;
      current = undefined;
      if (stopping.signal.aborted) return;
      failures = countFailure(failures, performance.now() - readyAtMs);
      options.log(`${options.name} ended unexpectedly (${how}) and is started again${logEnd(options.logFile)}`);
      current = await restart(options, failures, stopping.signal);
    }
  }

  const supervised = supervise();
  return {
    pid: () => current?.pid,
    stop: async () => {
      stopping.abort(new Error(`${options.name} was stopped`));
      await current?.end();
      await supervised;
    },
  };
}

async function launchReady(options: ProcessOptions, signal: AbortSignal): Promise<LaunchedProcess> {
  signal.throwIfAborted();
  const launched = await launchProcess(options).catch((error: unknown) => {
    throw new Error(`${options.name} cannot be run: ${messageOf(error)}`, { cause: error });
  });
  const settled = new AbortController();
  const timeout = AbortSignal.timeout(options.readyTimeoutMs ?? 60_000);
  const failedEarly = launched.ended.then((how) => {
    throw new Error(`it ended with ${how}`);
  });
  try {
    await Promise.race([options.readyWhen(AbortSignal.any([signal, timeout, settled.signal])), failedEarly]);
    return launched;
  } catch (error) {
    await launched.end();
    signal.throwIfAborted();
    const why = timeout.aborted ? 'it was not ready in time' : messageOf(error);
    throw new Error(`${options.name} did not start: ${why}${logEnd(options.logFile)}`, { cause: error });
  } finally {
    settled.abort();
  }
}

/** Tries until the process is ready again; undefined once it is no longer wanted. */
async function restart(
  options: ProcessOptions,
  failures: number,
  stopping: AbortSignal,
): Promise<LaunchedProcess | undefined> {
  for (let failed = failures; ; failed += 1) {
    await delay(restartDelayMs(failed), undefined, { signal: stopping }).catch(() => undefined);
    try {
      stopping.throwIfAborted();
      await options.beforeRestart?.();
      const launched = await launchReady(options, stopping);
      options.log(`${options.name} is running again`);
      return launched;
    } catch (error) {
      if (stopping.aborted) return undefined;
      options.log(messageOf(error));
    }
  }
}

function logEnd(logFile: string): string {
  const lines = lastLines(logFile, REPORTED_LINES);
  return lines.length === 0 ? ` (nothing in ${logFile})` : `; the end of ${logFile}: ${lines.join(' | ')}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
