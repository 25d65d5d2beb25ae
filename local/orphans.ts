import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { endProcess, identify, type StopStep } from './running-process.ts';

const recordSchema = z.object({ pid: z.number().int().positive(), startedAt: z.string() });

/**
 * Remembers on disk which processes run for a data directory, so that the next start finds those that outlived a
 * parent killed before it could stop them.
 */
export interface ProcessRecords {
  write(name: string, pid: number): Promise<void>;
  remove(name: string): void;
}

/** Records kept as one small file each in `directory`, which is created when needed. */
export function processRecords(directory: string): ProcessRecords {
  return {
    write: async (name, pid) => {
      const identity = await identify(pid);
      if (identity === undefined) return;
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, `${name}.json`), JSON.stringify({ pid, startedAt: identity.startedAt }));
    },
    remove: (name) => rmSync(join(directory, `${name}.json`), { force: true }),
  };
}

/** Ends every recorded process that still runs. Returns the names of those that did. */
export async function stopOrphans(directory: string, steps: readonly StopStep[]): Promise<string[]> {
  const names = await Promise.all(
    recordFiles(directory).map(async (file) => {
      const ran = await stopOrphan(join(directory, file), steps);
      rmSync(join(directory, file), { force: true });
      return ran ? file.replace(/\.json$/, '') : undefined;
    }),
  );
  return names.filter((name) => name !== undefined);
}

async function stopOrphan(path: string, steps: readonly StopStep[]): Promise<boolean> {
  const record = readRecord(path);
  const running = record === undefined ? undefined : await identify(record.pid);
  if (running === undefined || running.startedAt !== record?.startedAt) return false;
  await endProcess(running, steps);
  return true;
}

function recordFiles(directory: string): string[] {
  try {
    return readdirSync(directory).filter((file) => file.endsWith('.json'));
  } catch {
    return [];
  }
}

/** A record cut short by a crash is as good as none. */
function readRecord(path: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}
