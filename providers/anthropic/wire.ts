import { z } from 'zod';

/*
 * What Anthropic sends, only the fields used, after the @anthropic-ai/sdk types (`MessageBatch`, `ErrorResponse`).
 * Lenient: a field that only informs is null when it is not what the types say. Strict where a wrong guess costs money:
 * the ids, and where results are.
 */

const Text = z.string().nullish().catch(null);
/** Ids are opaque, but always printable: they are stored, and become parts of paths. */
const Id = z.string().regex(/^[!-~]{1,512}$/);

export const BatchReply = z.object({
  id: Id,
  type: z.literal('message_batch').nullish(),
  processing_status: z.string().min(1).nullish(),
  request_counts: z.record(z.string(), z.unknown()).nullish().catch(null),
  created_at: z.unknown().optional(),
  expires_at: z.unknown().optional(),
  archived_at: Text,
  cancel_initiated_at: Text,
  results_url: z.string().nullish(),
  /** No field of a batch: what stands here in a reply with status 200 is an error in a batch's place. */
  error: z.null().optional(),
});
export type BatchReply = z.infer<typeof BatchReply>;

/** Enough of a listed batch to tell whether it may be the one looked for. */
export const ListedBatch = z.object({
  id: z.string(),
  created_at: z.unknown().optional(),
  request_counts: z.record(z.string(), z.unknown()).nullish().catch(null),
});

export const BatchListReply = z.object({
  data: z.array(z.unknown()),
  has_more: z.boolean().nullish(),
  last_id: Text,
});
export type BatchListReply = z.infer<typeof BatchListReply>;

/** The inner object of `{type: "error", error: {…}, request_id}`. */
export const ErrorBody = z.object({
  type: Text,
  message: Text,
  details: z.object({ error_code: Text }).nullish().catch(null),
});
