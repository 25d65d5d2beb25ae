import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PostgresUser } from './postgres-user.ts';

const run = promisify(execFile);
const MAJOR_VERSION = '18';

/** A cluster on disk that a server can be started on. */
export interface Cluster {
  directory: string;
  password: string;
  /** True when it was made just now, so nothing that was kept about its former contents holds any more. */
  created: boolean;
}

/**
 * The cluster under `<dataDirectory>/postgres`, made on first use with a password of its own (kept beside it, readable
 * by its owner alone). An initialisation that was interrupted leaves nothing that a later start would take for whole.
 */
export async function openCluster(
  initdb: string,
  dataDirectory: string,
  options: { user: PostgresUser; ephemeral: boolean },
): Promise<Cluster> {
  const directory = join(dataDirectory, 'postgres');
  const passwordFile = join(dataDirectory, 'postgres-password');
  const version = readIfThere(join(directory, 'PG_VERSION'))?.trim();
  if (version !== undefined) {
    if (version !== MAJOR_VERSION) {
      throw new Error(
        `${directory} belongs to Postgres ${version}, this is ${MAJOR_VERSION}; choose another data folder.`,
      );
    }
    const password = readIfThere(passwordFile);
    if (password === undefined)
      throw new Error(`${passwordFile} is missing, without it ${directory} cannot be opened.`);
    return { directory, password, created: false };
  }
  if (existsSync(directory)) throw new Error(`${directory} exists but holds no database; move it away.`);
  const password = randomBytes(24).toString('base64url');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  await initialise(initdb, directory, password, options);
  return { directory, password, created: true };
}

async function initialise(
  initdb: string,
  directory: string,
  password: string,
  { user, ephemeral }: { user: PostgresUser; ephemeral: boolean },
): Promise<void> {
  const unfinished = `${directory}.unfinished`;
  const handedPassword = `${unfinished}.password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(handedPassword, password, { mode: 0o600 });
  if (user.ids) for (const path of [unfinished, handedPassword]) chownSync(path, user.ids.uid, user.ids.gid);
  const {
    command,
    args,
    user: ids,
  } = user.wrap(initdb, [
    `--pgdata=${unfinished}`,
    '--username=postgres',
    `--pwfile=${handedPassword}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorting that does not depend on what locales this machine has.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(ephemeral ? ['--no-sync'] : []),
  ]);
  try {
    await run(command, args, { ...ids, env: { LC_ALL: 'C' } });
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    const detail = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`The database could not be initialised: ${detail}`, { cause: error });
  } finally {
    rmSync(handedPassword, { force: true });
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
