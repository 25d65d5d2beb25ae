import { z } from 'zod';
import { RunnableBatch, Tally } from '../batch-record.ts';
import { StoredFile } from '../state.ts';

export const FileRecord = StoredFile.extend({
  filename: z.string(),
  purpose: z.string(),
  /** Set on the files a batch made. */
  madeBy: z.object({ batchId: z.string(), file: z.enum(['output', 'error']) }).optional(),
});
export type FileRecord = z.infer<typeof FileRecord>;

const BatchError = z.object({
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  line: z.number().nullable(),
});
export type BatchError = z.infer<typeof BatchError>;

const BatchUsage = z.object({
  input: z.number(),
  cached: z.number(),
  cacheWrite: z.number(),
  output: z.number(),
  reasoning: z.number(),
});
export type BatchUsage = z.infer<typeof BatchUsage>;

const Result = Tally.extend({
  outputFileId: z.string().nullable(),
  errorFileId: z.string().nullable(),
  usage: BatchUsage,
});
export type Result = z.infer<typeof Result>;

/** A batch with all it needs to go on after a restart. */
export const BatchRecord = RunnableBatch.extend({
  endpoint: z.string(),
  completionWindow: z.string(),
  metadata: z.record(z.string(), z.string()).nullable(),
  outputLifeMs: z.number().nullable(),
  /** Known once validated. */
  model: z.string().nullable(),
  tokens: z.number(),
  errors: z.array(BatchError),
  result: Result.optional(),
});
export type BatchRecord = z.infer<typeof BatchRecord>;
