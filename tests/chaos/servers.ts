import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { choosePort } from '../../local/ports.ts';
import { type RunningPostgres, startPostgres } from '../../local/postgres.ts';
import type { Reaper } from '../../local/reaper.ts';
import { sendSignal } from '../../local/running-process.ts';
import { type RunningTemporal, startTemporal } from '../../local/temporal.ts';
import { findTemporal } from '../../local/temporal-binary.ts';
import { defaultCacheDirectory } from '../../local/temporal-search.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../../worker/temporal-setup.ts';

/** A server that can be ended in any way and is then started again, on the same port and data. */
export interface RestartableServer<Running> {
  readonly running: () => Running;
  /** One restart after the other, however many are asked for at once. */
  restart(signal: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

interface Startable {
  pid(): number | undefined;
  stop(): Promise<void>;
}

const START_TRIES = 5;

async function restartable<Running extends Startable>(
  start: () => Promise<Running>,
): Promise<RestartableServer<Running>> {
  let running = await startAtLast(start);
  let last: Promise<void> = Promise.resolve();
  const restart = async (signal: NodeJS.Signals): Promise<void> => {
    const pid = running.pid();
    if (pid !== undefined) sendSignal(pid, signal);
    await running.stop();
    running = await startAtLast(start);
  };
  return {
    running: () => running,
    restart: (signal) => {
      last = last.then(() => restart(signal));
      return last;
    },
    stop: async () => {
      await last.catch(() => undefined);
      await running.stop();
    },
  };
}

/** On a machine that has too much to do, a start may take longer than it is given. */
async function startAtLast<Running>(start: () => Promise<Running>): Promise<Running> {
  for (let triesLeft = START_TRIES - 1; ; triesLeft -= 1) {
    try {
      return await start();
    } catch (error) {
      if (triesLeft === 0) throw error;
    }
  }
}

export interface ServerFolder {
  readonly directory: string;
  readonly reaper: Reaper;
}

/** Keeps its data as one in production does: what was committed is there after a crash. */
export async function startDatabase({ directory, reaper }: ServerFolder): Promise<RestartableServer<RunningPostgres>> {
  const port = await choosePort(0);
  return restartable(() =>
    startPostgres({ dataDirectory: directory, port, ephemeral: false, reaper, log: () => undefined }),
  );
}

/** A workflow task that went down with its worker is given to another after this long; the server's own default is 10 s. */
const WORKFLOW_TASK_TIMEOUT = 'history.defaultWorkflowTaskTimeout="4s"';

export async function startWorkflowServer({
  directory,
  reaper,
}: ServerFolder): Promise<RestartableServer<RunningTemporal>> {
  const found = await findTemporal({
    environment: { PATH: process.env['PATH'] },
    cacheDirectory: defaultCacheDirectory(process.env, homedir()),
    onProgress: () => undefined,
  });
  if (found.kind !== 'executable') throw new Error('an executable was looked for, not a server');
  const [port, uiPort] = [await choosePort(0), await choosePort(0)];
  const searchAttributes = Object.fromEntries(SEARCH_ATTRIBUTE_NAMES.map((name) => [name, 'Keyword']));
  await mkdir(join(directory, 'temporal'), { recursive: true });
  return restartable(() =>
    startTemporal({
      executable: found.path,
      dataDirectory: directory,
      ephemeral: false,
      port,
      uiPort,
      searchAttributes,
      settings: [WORKFLOW_TASK_TIMEOUT],
      reaper,
      log: () => undefined,
    }),
  );
}

/** Writes the workflow code, with the short waits of this suite, into a file and names it. */
export async function writeWorkflowBundle(directory: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
    workflowInterceptorModules: [fileURLToPath(new URL('./short-waits.ts', import.meta.url))],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  const path = join(directory, 'workflows.js');
  await writeFile(path, code);
  return path;
}
