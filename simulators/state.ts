import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createFirstAttempts, type FirstAttempts } from './attempts.ts';
import { isTerminal, type RunnableBatch } from './batch-record.ts';
import { createRecordStore } from './record-store.ts';

/** A stored file; its bytes lie beside the record. Times are unix milliseconds. */
export const StoredFile = z.object({
  id: z.string(),
  seq: z.number(),
  bytes: z.number(),
  createdAt: z.number(),
  expiresAt: z.number(),
  /** Gone for the API; the bytes stay while a running batch reads them. */
  isDeleted: z.boolean().optional(),
});
export type StoredFile = z.infer<typeof StoredFile>;

/** Files and batches of one instance, in memory and on disk; bytes of files on disk only. */
export interface State<File extends StoredFile, Batch extends RunnableBatch> {
  readonly attempts: FirstAttempts;
  /** Newest last. */
  batches(): Batch[];
  findBatch(id: string): Batch | undefined;
  saveBatch(batch: Batch): void;
  deleteBatch(batch: Batch): void;
  /** Files that are neither deleted nor expired at `now` (unix milliseconds), newest last. */
  files(now: number): File[];
  findFile(id: string, now: number): File | undefined;
  saveFile(file: File): void;
  /** Hides a file; its bytes go once no running batch reads them. */
  deleteFile(file: File): void;
  /** Removes bytes that are no longer needed. */
  dropUnneeded(fileId: string): void;
  pathOf(fileId: string): string;
  /** Grows with every file and batch, over restarts too. */
  nextSeq(): number;
  clear(): void;
}

export function newId(prefix: string): string {
  return prefix + randomBytes(16).toString('hex');
}

/** Loads what an earlier run left in `folder`. */
export function createState<File extends StoredFile, Batch extends RunnableBatch>(
  folder: string,
  schemas: { files: z.ZodType<File>; batches: z.ZodType<Batch> },
): State<File, Batch> {
  const bytesFolder = join(folder, 'bytes');
  mkdirSync(bytesFolder, { recursive: true });
  const stores = {
    files: createRecordStore(join(folder, 'files'), schemas.files),
    batches: createRecordStore(join(folder, 'batches'), schemas.batches),
  };
  const inOrder = <T extends { id: string; seq: number }>(records: T[]) =>
    new Map(records.sort((a, b) => a.seq - b.seq).map((record) => [record.id, record]));
  const files = inOrder(stores.files.load());
  const batches = inOrder(stores.batches.load());
  let seq = Math.max(0, ...[...files.values(), ...batches.values()].map((record) => record.seq));

  const pathOf = (fileId: string) => join(bytesFolder, fileId);
  const isRead = (fileId: string) =>
    [...batches.values()].some((batch) => batch.inputFileId === fileId && !isTerminal(batch.status));
  const dropUnneeded = (fileId: string) => {
    if (files.get(fileId)?.isDeleted && !isRead(fileId)) rmSync(pathOf(fileId), { force: true });
  };
  const deleteFile = (file: File) => {
    file.isDeleted = true;
    stores.files.save(file);
    dropUnneeded(file.id);
  };
  const isThere = (file: File, now: number) => {
    if (!file.isDeleted && file.expiresAt <= now) deleteFile(file);
    return !file.isDeleted;
  };
  // Uploads and results cut short by the end of the process have bytes but no record.
  for (const name of readdirSync(bytesFolder)) if (!files.has(name)) rmSync(pathOf(name));

  return {
    attempts: createFirstAttempts(join(folder, 'first-attempts')),
    batches: () => [...batches.values()],
    findBatch: (id) => batches.get(id),
    saveBatch(batch) {
      batches.set(batch.id, batch);
      stores.batches.save(batch);
    },
    deleteBatch(batch) {
      batches.delete(batch.id);
      stores.batches.remove(batch.id);
    },
    files: (now) => [...files.values()].filter((file) => isThere(file, now)),
    findFile(id, now) {
      const file = files.get(id);
      return file !== undefined && isThere(file, now) ? file : undefined;
    },
    saveFile(file) {
      files.set(file.id, file);
      stores.files.save(file);
    },
    deleteFile,
    dropUnneeded,
    pathOf,
    nextSeq() {
      seq += 1;
      return seq;
    },
    clear() {
      for (const id of files.keys()) stores.files.remove(id);
      for (const id of batches.keys()) stores.batches.remove(id);
      for (const name of readdirSync(bytesFolder)) rmSync(pathOf(name), { force: true });
      files.clear();
      batches.clear();
      this.attempts.clear();
    },
  };
}
