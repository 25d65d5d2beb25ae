import { z } from 'zod';

/*
 * What OpenAI sends, only the fields used, after the openai SDK's types (`Batch`, `FileObject`). Lenient: a field that
 * only informs is null when it is not what the types say. Strict where a wrong guess costs money: the ids.
 */

const Text = z.string().nullish().catch(null);
/** Ids are opaque, but always printable: they are stored, and become parts of paths. */
const Id = z.string().regex(/^[!-~]{1,512}$/);
const FileId = z.union([Id, z.literal('')]).nullish();

export const BatchFault = z
  .object({ code: Text, message: Text, param: Text, line: z.number().int().positive().nullish().catch(null) })
  .catch({});
export type BatchFault = z.infer<typeof BatchFault>;

const PlainBatch = z.object({
  id: Id,
  object: z.literal('batch').nullish(),
  status: z.string().min(1).nullish(),
  input_file_id: Text,
  output_file_id: FileId,
  error_file_id: FileId,
  created_at: z.unknown().optional(),
  expires_at: z.unknown().optional(),
  request_counts: z.record(z.string(), z.unknown()).nullish().catch(null),
  errors: z
    .object({ data: z.array(BatchFault).nullish() })
    .nullish()
    .catch(null),
  /** No field of a batch: what stands here in a reply with status 200 is an error in a batch's place. */
  error: z.null().optional(),
});
/** A compatible provider wraps a new batch in `job` (Together docs). */
export const BatchReply = z.preprocess(unwrapJob, PlainBatch);
export type BatchReply = z.infer<typeof BatchReply>;

function unwrapJob(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null || !('job' in reply) || 'id' in reply) return reply;
  return reply.job;
}

/** Enough of a listed batch to tell whether it is the one looked for. */
export const ListedBatch = z.object({
  id: z.string(),
  input_file_id: Text,
  created_at: z.unknown().optional(),
  metadata: z.record(z.string(), z.unknown()).nullish().catch(null),
});

export const BatchListReply = z.object({ data: z.array(z.unknown()), has_more: z.boolean().nullish() });
export type BatchListReply = z.infer<typeof BatchListReply>;

export const FileReply = z.object({ id: Id });

/** `{error: {...}}`, or the inner object alone, which is what the SDK keeps of it. */
export const ErrorBody = z.object({
  message: Text,
  type: Text,
  code: z.union([z.string(), z.number()]).nullish().catch(null),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
