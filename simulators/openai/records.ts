import { z } from 'zod';
import { FaultAction } from '../fault-actions.ts';

/** A stored file; its bytes lie beside the record. Times are unix milliseconds. */
export const FileRecord = z.object({
  id: z.string(),
  seq: z.number(),
  bytes: z.number(),
  createdAt: z.number(),
  expiresAt: z.number(),
  filename: z.string(),
  purpose: z.string(),
  /** Set on the files a batch made. */
  madeBy: z.object({ batchId: z.string(), file: z.enum(['output', 'error']) }).optional(),
  /** Gone for the API; the bytes stay while a running batch reads them. */
  isDeleted: z.boolean().optional(),
});
export type FileRecord = z.infer<typeof FileRecord>;

const BATCH_STATUSES = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

const BatchError = z.object({
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  line: z.number().nullable(),
});
export type BatchError = z.infer<typeof BatchError>;

/** How a batch is about to end: decided when it leaves `in_progress`, before its files are written. */
const Ending = z.object({
  status: z.enum(['completed', 'failed', 'expired', 'cancelled']),
  finished: z.number(),
  listsUnfinished: z.boolean(),
});
export type Ending = z.infer<typeof Ending>;

const BatchUsage = z.object({
  input: z.number(),
  cached: z.number(),
  cacheWrite: z.number(),
  output: z.number(),
  reasoning: z.number(),
});
export type BatchUsage = z.infer<typeof BatchUsage>;

/** What came of a batch's items. */
const Result = z.object({
  completed: z.number(),
  failed: z.number(),
  total: z.number(),
  outputFileId: z.string().nullable(),
  errorFileId: z.string().nullable(),
  usage: BatchUsage,
});
export type Result = z.infer<typeof Result>;

/** A batch with all it needs to go on after a restart. Times are unix milliseconds of the simulators' clock. */
export const BatchRecord = z.object({
  id: z.string(),
  seq: z.number(),
  endpoint: z.string(),
  completionWindow: z.string(),
  inputFileId: z.string(),
  metadata: z.record(z.string(), z.string()).nullable(),
  outputLifeMs: z.number().nullable(),
  status: z.enum(BATCH_STATUSES),
  /** When each state was entered. */
  enteredAt: z.partialRecord(z.enum(BATCH_STATUSES), z.number()),
  createdAt: z.number(),
  expiresAt: z.number(),
  /** Known once validated. */
  model: z.string().nullable(),
  total: z.number(),
  tokens: z.number(),
  errors: z.array(BatchError),
  ending: Ending.optional(),
  result: Result.optional(),
  /** What faults have in store for it. */
  script: FaultAction.pick({ end_state: true, stuck: true, list_lag_ms: true }),
  /** When its scripted end was asked for at once, past the pace. */
  forcedAt: z.number().optional(),
});
export type BatchRecord = z.infer<typeof BatchRecord>;

const TERMINAL: ReadonlySet<BatchStatus> = new Set(['completed', 'failed', 'expired', 'cancelled']);

export function isTerminal(status: BatchStatus): boolean {
  return TERMINAL.has(status);
}
