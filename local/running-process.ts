import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What tells a running process from a later one that got the same number. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
  command: string;
}

/** The process with this number, or undefined when there is none (a zombie counts as none) or it cannot be read. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  if (process.platform === 'linux') return identifyByProc(pid);
  if (process.platform === 'win32') return undefined;
  const listing = await run('ps', ['-o', 'lstart=,command=', '-p', String(pid)]).catch(() => undefined);
  const line = listing?.stdout.trim();
  // `lstart` is five words wide: "Mon Nov 30 14:58:02 2026".
  return line ? { pid, startedAt: line.slice(0, 24), command: line.slice(24).trim() } : undefined;
}

async function identifyByProc(pid: number): Promise<ProcessIdentity | undefined> {
  const [stat, command, boot] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined),
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
  ]);
  if (stat === undefined) return undefined;
  // The second field is the name in parentheses and may hold anything; the fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z') return undefined;
  return { pid, startedAt: `${boot.trim()}/${fields[19] ?? ''}`, command: command.replaceAll('\0', ' ').trim() };
}

/** One thing to try on a process that has to end, and how long to wait for its effect. */
export interface StopStep {
  signal: NodeJS.Signals;
  waitMs: number;
}

/** Ends a process that is not our child: each step in turn, then SIGKILL. Resolves when it is gone. */
export async function endProcess(identity: ProcessIdentity, steps: readonly StopStep[]): Promise<void> {
  for (const step of [...steps, { signal: 'SIGKILL', waitMs: 5_000 } as const]) {
    if (!sendSignal(identity.pid, step.signal)) return;
    if (await isGone(identity, step.waitMs)) return;
  }
  throw new Error(`process ${identity.pid} does not end`);
}

/** False when there is no such process. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function isGone(identity: ProcessIdentity, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    const now = await identify(identity.pid);
    if (now?.startedAt !== identity.startedAt) return true;
    await delay(25);
  }
  return false;
}
