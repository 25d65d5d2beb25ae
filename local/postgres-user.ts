import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Who runs Postgres, which refuses to run as root, and how a command is run as that user. */
export interface PostgresUser {
  /** Set when it is someone else than we are: files that Postgres writes must be given to it. */
  ids: { uid: number; gid: number } | undefined;
  wrap(
    command: string,
    args: readonly string[],
  ): { command: string; args: string[]; user?: { uid: number; gid: number } };
}

/** Lets a process pass closed folders that belong to root; the first that this machine grants is used. */
const CAPABILITIES = ['dac_read_search', 'dac_override'];

/**
 * Ourselves, unless we are root: then the system's user `postgres`, which is created when missing. Where that user
 * cannot reach one of `paths`, as below root's own home, it is lent the right to pass closed folders. Throws one
 * sentence when neither is possible.
 */
export async function postgresUser(paths: readonly string[]): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return { ids: undefined, wrap: (command, args) => ({ command, args: [...args] }) };
  const ids = await systemUser();
  const closed = paths.map((path) => closedFolder(path, ids)).find((folder) => folder !== undefined);
  if (closed === undefined) return { ids, wrap: (command, args) => ({ command, args: [...args], user: ids }) };
  const prefix = await lendingPrefix(ids, closed);
  return { ids, wrap: (command, args) => ({ command: 'setpriv', args: [...prefix, command, ...args] }) };
}

async function systemUser(): Promise<{ uid: number; gid: number }> {
  try {
    return await idsOf('postgres').catch(async () => {
      await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
      return idsOf('postgres');
    });
  } catch (error) {
    throw new Error('Postgres refuses to run as root; create a system user named postgres or run as another user.', {
      cause: error,
    });
  }
}

async function idsOf(name: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** The first folder on the way to `path` that the user may not pass. */
export function closedFolder(path: string, ids: { uid: number; gid: number }): string | undefined {
  const folder = dirname(resolve(path));
  const above = folder === dirname(folder) ? undefined : closedFolder(folder, ids);
  if (above !== undefined) return above;
  const { mode, uid, gid } = statSync(folder);
  const passes = uid === ids.uid ? mode & 0o100 : gid === ids.gid ? mode & 0o010 : mode & 0o001;
  return passes ? undefined : folder;
}

async function lendingPrefix(ids: { uid: number; gid: number }, closed: string): Promise<string[]> {
  for (const capability of CAPABILITIES) {
    // Postgres asks `access` about its own executable, which honours lent rights only under this secure bit.
    const prefix = [
      `--reuid=${ids.uid}`,
      `--regid=${ids.gid}`,
      '--clear-groups',
      `--inh-caps=+${capability}`,
      `--ambient-caps=+${capability}`,
      '--securebits=+no_setuid_fixup',
    ];
    const granted = await run('setpriv', [...prefix, 'true']).then(
      () => true,
      () => false,
    );
    if (granted) return prefix;
  }
  throw new Error(
    `Postgres runs as the user postgres, who cannot enter ${closed}; run as another user than root, or move the project and its data out of that folder.`,
  );
}
