import { z } from 'zod';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const Milliseconds = z.number().nonnegative();
const Limit = z.number().int().nonnegative();

/**
 * How this instance behaves. Durations are milliseconds of the simulators' clock; limits default to those of the
 * OpenAI Batch API docs.
 */
export const OpenAiSettings = z.strictObject({
  validatingMs: Milliseconds.default(300),
  inProgressMs: Milliseconds.default(1_500),
  finalizingMs: Milliseconds.default(300),
  cancellingMs: Milliseconds.default(300),
  /** When set, a batch is in progress for as long as its items take at this rate, instead of `inProgressMs`. */
  itemsPerSecond: z.number().positive().nullable().default(null),
  /** What `24h` means. */
  windowMs: Milliseconds.default(DAY_MS),
  maxLines: Limit.default(50_000),
  maxFileBytes: Limit.default(200 * 1024 * 1024),
  /** How many validation errors a failed batch lists. */
  maxListedErrors: Limit.default(100),
  enqueuedTokenLimit: Limit.default(2_000_000_000),
  /** By model, before the general limit. */
  enqueuedTokenLimits: z.record(z.string(), Limit).default({}),
  /** Life of a file that asked for none of its own. */
  fileLifeMs: Milliseconds.default(30 * DAY_MS),
  embeddingDimensions: z.number().int().positive().default(8),
  /** What cancelling a batch that has ended otherwise answers; the docs do not say. */
  cancelEndedStatus: z.union([z.literal(200), z.literal(400), z.literal(409)]).default(409),
  /** Where signed events go; none are sent while either is null. */
  webhookUrl: z.url().nullable().default(null),
  webhookSecret: z.string().startsWith('whsec_').nullable().default(null),
  webhookRetryBaseMs: Milliseconds.default(1_000),
  /** How long a single call takes to be answered, once it is accepted. */
  replyLatencyMs: Milliseconds.default(0),
  /** Varies the order of result lines. */
  seed: z.number().int().default(1),
});
export type OpenAiSettings = z.output<typeof OpenAiSettings>;
export type OpenAiSettingsChange = z.input<typeof OpenAiSettings>;
