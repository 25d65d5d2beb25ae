import { z } from 'zod';
import { RunnableBatch, Tally } from '../batch-record.ts';
import { API_VERSIONS } from './versions.ts';

/** `completed` and `failed` are what the API calls succeeded and errored. */
const Result = Tally.extend({
  canceled: z.number(),
  expired: z.number(),
  /** Null when a fault withheld it. */
  fileId: z.string().nullable(),
});
export type Result = z.infer<typeof Result>;

/** A batch with all it needs to go on after a restart. */
export const BatchRecord = RunnableBatch.extend({
  /** Of the create: decides which parameters the items may have. */
  version: z.enum(API_VERSIONS),
  /** Where its create was sent, without a path. */
  origin: z.string(),
  /** How many items end by themselves; the others hang until the batch expires. */
  ends: z.number(),
  /** When it is archived and its results go; unix milliseconds. */
  archivesAt: z.number(),
  result: Result.optional(),
});
export type BatchRecord = z.infer<typeof BatchRecord>;
