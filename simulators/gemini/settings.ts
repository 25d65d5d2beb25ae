import { z } from 'zod';

const HOUR_MS = 3_600_000;
const Milliseconds = z.number().nonnegative();
const Limit = z.number().int().nonnegative();

/**
 * How this instance behaves. Durations are milliseconds of the simulators' clock; limits default to those of the
 * Gemini API docs on batches and files.
 */
export const GeminiSettings = z.strictObject({
  pendingMs: Milliseconds.default(300),
  runningMs: Milliseconds.default(1_500),
  /** How long a batch goes on running after a cancel; it shows no state of its own for that. */
  cancellingMs: Milliseconds.default(300),
  /** When set, a batch runs for as long as its items take at this rate, instead of `runningMs`. */
  itemsPerSecond: z.number().positive().nullable().default(null),
  /** Age at which a batch that has not ended expires, without output. */
  expiryMs: Milliseconds.default(48 * HOUR_MS),
  /** Size of a create request. */
  maxInlineBytes: Limit.default(20 * 1024 * 1024),
  maxFileBytes: Limit.default(2 * 1024 * 1024 * 1024),
  concurrentBatchLimit: Limit.default(100),
  /** Input tokens of the batches of one model that have not ended. */
  enqueuedTokenLimit: Limit.default(1_000_000_000),
  /** By model id, before the general limit. */
  enqueuedTokenLimits: z.record(z.string(), Limit).default({}),
  fileLifeMs: Milliseconds.default(48 * HOUR_MS),
  /** Life of a batch's output; the docs do not say. */
  outputFileLifeMs: Milliseconds.default(48 * HOUR_MS),
  embeddingDimensions: z.number().int().positive().default(8),
  /** Where results go: as the requests came, or always one way. */
  resultDestination: z.enum(['as_input', 'file', 'inline']).default('as_input'),
  /** Inline results are documented to keep the order of the requests. */
  shuffleInline: z.boolean().default(false),
  /**
   * Where a request that breaks its schema comes to light: as the error of its item, or, as users report of files and
   * as the API's JSON reader suggests for inline requests, as a refusal of the whole create.
   */
  badRequestsFail: z.enum(['item', 'create']).default('item'),
  /** Whether a cancelled batch shows the results it has; the docs promise none. */
  cancelledOutput: z.boolean().default(false),
  /** Answer to a file that does not exist (any more); users report 403 as well. */
  missingFileStatus: z.union([z.literal(403), z.literal(404)]).default(404),
  /** Answer to a create that names such a file; the docs do not say. */
  missingInputStatus: z.union([z.literal(400), z.literal(404)]).default(400),
  /** Where signed events go, for batches that name no webhook of their own; none are sent while either is null. */
  webhookUrl: z.url().nullable().default(null),
  webhookSecret: z.string().startsWith('whsec_').nullable().default(null),
  webhookRetryBaseMs: Milliseconds.default(1_000),
  /** The audience of signed tokens; the address they are sent to when null. */
  webhookAudience: z.string().nullable().default(null),
  /** How long a single call takes to be answered, once it is accepted. */
  replyLatencyMs: Milliseconds.default(0),
  /** Varies the order of result lines. */
  seed: z.number().int().default(1),
});
export type GeminiSettings = z.output<typeof GeminiSettings>;
export type GeminiSettingsChange = z.input<typeof GeminiSettings>;
