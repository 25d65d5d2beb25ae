import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';

/** Small JSON records in a folder, one file each, so that a change costs the same however many there are. */
export interface RecordStore<T extends { id: string }> {
  load(): T[];
  save(record: T): void;
  remove(id: string): void;
}

/** Writes are synchronous and atomic: what a simulator has answered survives the death of its process. */
export function createRecordStore<T extends { id: string }>(folder: string, schema: z.ZodType<T>): RecordStore<T> {
  mkdirSync(folder, { recursive: true });
  const pathOf = (id: string) => join(folder, `${id}.json`);
  return {
    load: () =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .map((name) => schema.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')))),
    save: (record) => writeJson(pathOf(record.id), record),
    remove: (id) => rmSync(pathOf(id), { force: true }),
  };
}

export function writeJson(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(value));
  renameSync(`${path}.new`, path);
}
