import { z } from 'zod';

/*
 * What the Gemini API sends, only the fields used (Gemini API reference, `Operation` and `GenerateContentBatch`; names as
 * @google/genai reads them). Lenient: a field that only informs is null when it is not what the reference says. Strict
 * where a wrong guess costs money: the names, and where the results are.
 */

const Text = z.string().nullish().catch(null);
/** Names become parts of paths, where dots would climb. */
const BatchName = z.string().regex(/^batches\/[A-Za-z0-9_-]{1,200}$/);
const FileName = z.string().regex(/^files\/[A-Za-z0-9_-]{1,200}$/);

const InlinedResponses = z.object({ inlinedResponses: z.array(z.unknown()).nullish() }).nullish();

const Output = z
  .object({
    responsesFile: z.union([FileName, z.literal('')]).nullish(),
    inlinedResponses: InlinedResponses,
    inlinedEmbedContentResponses: InlinedResponses,
  })
  .nullish();
export type Output = z.infer<typeof Output>;

const Metadata = z.object({
  state: z.string().min(1).nullish(),
  displayName: Text,
  createTime: Text,
  inputConfig: z.object({ fileName: Text }).nullish().catch(null),
  batchStats: z.record(z.string(), z.unknown()).nullish().catch(null),
  output: Output,
});

export const OperationReply = z.object({
  name: BatchName,
  done: z.boolean().nullish().catch(null),
  error: z.unknown().optional(),
  metadata: Metadata.nullish(),
  response: Output,
});
export type OperationReply = z.infer<typeof OperationReply>;

/** Enough of a listed batch to tell whether it is the one looked for. */
export const ListedOperation = z.object({
  metadata: Metadata.pick({ displayName: true, createTime: true, inputConfig: true }),
});

/** An empty list has no member at all; whatever else stands in its place has others. */
export const OperationList = z.strictObject({
  operations: z.array(z.unknown()).nullish(),
  nextPageToken: z.string().nullish(),
  unreachable: z.unknown().optional(),
});

export const UploadedFile = z.object({ name: FileName });
