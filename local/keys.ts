import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const keysSchema = z.object({
  adminKey: z.string().min(1),
  operatorKey: z.string().min(1),
  tenantKey: z.string().min(1),
});

/** The keys made on first run. They are shown again on each later one, so a local stack keeps them in the clear. */
export type StackKeys = z.infer<typeof keysSchema>;

/** The keys of an earlier run; undefined when there was none or the file is not whole. */
export function readKeys(dataDirectory: string): StackKeys | undefined {
  try {
    return keysSchema.parse(JSON.parse(readFileSync(keysFile(dataDirectory), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Keeps the keys in `keys.json`, readable by its owner alone. */
export function saveKeys(dataDirectory: string, keys: StackKeys): void {
  const unfinished = `${keysFile(dataDirectory)}.unfinished`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, `${JSON.stringify(keys, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, keysFile(dataDirectory));
}

/** Forgets the keys, which a database made anew does not know. */
export function forgetKeys(dataDirectory: string): void {
  rmSync(keysFile(dataDirectory), { force: true });
}

function keysFile(dataDirectory: string): string {
  return join(dataDirectory, 'keys.json');
}
