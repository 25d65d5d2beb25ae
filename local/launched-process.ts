import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openLog } from './log-file.ts';
import type { ProcessRecords } from './orphans.ts';
import type { Reaper } from './reaper.ts';
import { sendSignal } from './running-process.ts';

/** How to run one process, and how to end it. */
export interface LaunchOptions {
  /** For messages and records: `api`, `worker`, `postgres`, … */
  name: string;
  command: string;
  args: readonly string[];
  /** The whole environment; nothing is inherited. */
  env: Record<string, string | undefined>;
  cwd?: string;
  user?: { uid: number; gid: number } | undefined;
  /** Takes standard output and standard error. */
  logFile: string;
  /** Opens a channel to the process, through which it notices that this one died. */
  channel?: boolean;
  /** SIGTERM unless said. */
  stopSignal?: 'SIGINT' | 'SIGTERM';
  /** How long it may take to end before SIGKILL: 10 s unless said. */
  stopWaitMs?: number;
  reaper?: Reaper | undefined;
  records?: ProcessRecords | undefined;
}

export interface LaunchedProcess {
  pid: number;
  /** How it ended, in words: `exit code 1`, `signal SIGKILL`. */
  ended: Promise<string>;
  /** Ends it, at the latest with SIGKILL after the wait, and resolves when it is gone. */
  end(): Promise<void>;
}

/**
 * Starts a process in a session of its own: a Ctrl-C in the terminal reaches only us, and we decide the order in which
 * the others end. Rejects when the command cannot be run.
 */
export async function launchProcess(options: LaunchOptions): Promise<LaunchedProcess> {
  const child = spawnDetached(options);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  const pid = await spawned(child);
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  options.reaper?.watch(pid, stopSignal);
  await options.records?.write(options.name, pid);
  const gone = ended.then((how) => {
    options.reaper?.forget(pid);
    options.records?.remove(options.name);
    return how;
  });

  return {
    pid,
    ended: gone,
    end: async () => {
      sendSignal(pid, stopSignal);
      const inTime = await Promise.race([
        gone.then(() => true),
        delay(options.stopWaitMs ?? 10_000, false, { ref: false }),
      ]);
      // The whole group: what the process itself started must not stay behind either.
      if (!inTime) sendSignal(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
      await gone;
    },
  };
}

function spawnDetached(options: LaunchOptions): ChildProcess {
  const log = openLog(options.logFile);
  try {
    return spawn(options.command, options.args, {
      detached: true,
      stdio: options.channel ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
      env: options.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...options.user,
    });
  } finally {
    closeSync(log);
  }
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      if (child.pid === undefined) reject(new Error('a process without a number'));
      else resolve(child.pid);
    });
  });
}
