import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ArtifactStore, ArtifactStoreError, requireKey, requirePrefix } from './store.ts';
import { translateErrors } from './translate-errors.ts';

const { translated, readTranslated } = translateErrors(toStoreError);

/** Files on their way in, apart from all keys, none of which begins with a dot. */
const UNFINISHED = '.unfinished';

/**
 * A store in a folder, which may be shared by several processes and machines. A file is written beside, brought to disk and
 * then given its name, so that a crash leaves it whole or absent.
 */
export function createFolderStore(folder: string): ArtifactStore {
  const root = path.resolve(folder);
  const pathOf = (key: string): string => {
    requireKey(key);
    return path.join(root, key);
  };
  return {
    put: async (key, content, signal) => {
      const target = pathOf(key);
      const unfinished = path.join(root, UNFINISHED, randomUUID());
      return translated(async () => {
        await mkdir(path.dirname(unfinished), { recursive: true });
        try {
          const bytes = await write(unfinished, content, signal);
          await mkdir(path.dirname(target), { recursive: true });
          await rename(unfinished, target);
          await sync(path.dirname(target));
          return { bytes };
        } finally {
          await rm(unfinished, { force: true });
        }
      });
    },
    get: (key, signal) =>
      translated(async () => {
        const file = await open(pathOf(key), 'r');
        return readTranslated(createReadStream('', { fd: file, signal }));
      }),
    has: async (key) => {
      const target = pathOf(key);
      return translated(() => stat(target).then((found) => found.isFile(), absentIs(false)));
    },
    delete: async (key) => {
      const target = pathOf(key);
      await translated(() => rm(target, { force: true }));
    },
    list: (prefix) => {
      requirePrefix(prefix);
      return listFiles(root, prefix.slice(0, -1));
    },
  };
}

async function write(target: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number> {
  const file = await open(target, 'wx');
  try {
    let bytes = 0;
    for await (const chunk of content) {
      signal.throwIfAborted();
      // A write may take fewer bytes than it was given; this takes all.
      await file.appendFile(chunk);
      bytes += chunk.length;
    }
    signal.throwIfAborted();
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** A name is on disk once its folder is. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* listFiles(root: string, folder: string): AsyncGenerator<string> {
  const entries = await translated(() => opendir(path.join(root, folder)).catch(absentIs(null)));
  if (entries === null) return;
  for await (const entry of entries) {
    const key = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* listFiles(root, key);
    else if (entry.isFile()) yield key;
  }
}

/** What the content threw stays as it is; what the file system said becomes the store's. */
function toStoreError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined || code === 'ABORT_ERR') return error;
  if (code === 'ENOENT') return new ArtifactStoreError('missing', 'the store has no such artifact', { cause: error });
  return new ArtifactStoreError('unavailable', `the artifact folder answered ${code}`, { cause: error });
}

function absentIs<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return value;
    throw error;
  };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}
