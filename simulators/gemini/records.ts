import { z } from 'zod';
import { RunnableBatch, Tally } from '../batch-record.ts';
import { createState as createStateOf, type State as StateOf, StoredFile } from '../state.ts';

/** Ids are the part of a resource name after `files/` or `batches/`. */
export const FileRecord = StoredFile.extend({
  displayName: z.string().optional(),
  mimeType: z.string(),
  /** Hexadecimal. */
  sha256: z.string(),
  /** Set on the output of a batch. */
  madeBy: z.string().optional(),
  /** Holds inline requests or responses, so it is no file for the API. */
  isInternal: z.boolean().optional(),
});
export type FileRecord = z.infer<typeof FileRecord>;

const Source = z.enum(['file', 'inline']);

export const BatchRecord = RunnableBatch.extend({
  task: z.enum(['generate', 'embed']),
  /** Without `models/`. */
  model: z.string(),
  displayName: z.string().optional(),
  source: Source,
  destination: Source,
  priority: z.string().optional(),
  webhook: z.object({ uris: z.array(z.string()), userMetadata: z.unknown().optional() }).optional(),
  /** Input tokens; null until they were counted. */
  tokens: z.number().nullable(),
  /** At most so many, judged by the bytes of the input. */
  mostTokens: z.number(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
  result: Tally.extend({ outputFileId: z.string().nullable() }).optional(),
  /** Deleted by its owner: hidden, but it runs on. */
  isDeleted: z.boolean().optional(),
});
export type BatchRecord = z.infer<typeof BatchRecord>;

export type State = StateOf<FileRecord, BatchRecord>;

/** Loads what an earlier run left in `folder`. */
export function createState(folder: string): State {
  return createStateOf(folder, { files: FileRecord, batches: BatchRecord });
}

/** The id of a `prefix/…` resource name; the name itself when it has no such prefix. */
export function idOf(name: string, prefix: 'files' | 'batches' | 'models'): string {
  return name.startsWith(`${prefix}/`) ? name.slice(prefix.length + 1) : name;
}
