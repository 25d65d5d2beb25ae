import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { defaultCacheDirectory } from '../../local/temporal-search.ts';

const run = promisify(execFile);
const VERSION = '5.2.5';
/** The server and everything it needs, each in one version. */
const REQUIREMENTS = join(import.meta.dirname, 'moto.txt');
const INSTALL_MS = 5 * 60_000;
const INSTALLERS = [['python3', '-m', 'pip'], ['pip3'], ['python', '-m', 'pip']] as const;

export interface S3Server {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** moto's server on a free port, which keeps buckets in memory. Installed by pip into the user's cache on first use. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await install();
  const child = spawn('python3', ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], PYTHONPATH: directory, PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  for await (const line of createInterface({ input: child.stderr })) {
    const endpoint = /Running on (http:\/\/[\d.:]+)/.exec(line)?.[1];
    if (endpoint === undefined) continue;
    // It tells of every request, and would stand still if nobody heard it.
    child.stderr.resume();
    return {
      endpoint,
      close: async () => {
        child.kill('SIGKILL');
        await exited;
      },
    };
  }
  throw new Error('the S3 server ended before it listened');
}

async function install(): Promise<string> {
  const directory = join(defaultCacheDirectory(process.env, homedir()), `moto-${VERSION}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--no-deps', '--target', unfinished];
    const failures: unknown[] = [];
    for (const [command, ...prefix] of INSTALLERS) {
      try {
        await run(command, [...prefix, 'install', ...options, '--requirement', REQUIREMENTS], { timeout: INSTALL_MS });
        if (!existsSync(directory)) renameSync(unfinished, directory);
        return directory;
      } catch (error) {
        failures.push(error);
      }
    }
    const message = 'The S3 tests need Python 3 with pip, and a registry that it may install moto from.';
    throw new AggregateError(failures, message);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
