import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ReaperOrder } from './reaper-main.ts';

/** Ends what this process started in case it is killed without a chance to do so itself. */
export interface Reaper {
  /** End `pid` with `signal`, and SIGKILL thirty seconds later, if this process dies. */
  watch(pid: number, signal: 'SIGINT' | 'SIGTERM'): void;
  forget(pid: number): void;
  /** Remove a folder if this process dies, after the processes that use it. */
  removeOnDeath(directory: string): void;
  keep(directory: string): void;
  /** Ends the reaper itself. Whatever it still watches is ended first. */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('./reaper-main.ts', import.meta.url));

/** Starts the reaper as a process of its own session, out of reach of a Ctrl-C in this terminal. */
export function startReaper(environment: Record<string, string | undefined>): Reaper {
  const child = spawn(process.execPath, [MAIN], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { PATH: environment['PATH'] },
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  child.unref();
  child.channel?.unref();
  const send = (order: ReaperOrder) => sendOrder(child, order);
  return {
    watch: (pid, signal) => send({ do: 'watch', pid, signal }),
    forget: (pid) => send({ do: 'forget', pid }),
    removeOnDeath: (directory) => send({ do: 'remove', directory }),
    keep: (directory) => send({ do: 'keep', directory }),
    stop: async () => {
      // Unlike its life, its end is worth waiting for.
      child.ref();
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** A reaper that died is not worth a failure: it only matters if this process is killed as well. */
function sendOrder(child: ChildProcess, order: ReaperOrder): void {
  if (child.connected) child.send(order, () => undefined);
}
