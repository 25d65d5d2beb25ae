import { z } from 'zod';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const Milliseconds = z.number().nonnegative();
const Limit = z.number().int().nonnegative();

/**
 * How this instance behaves. Durations are milliseconds of the simulators' clock; limits default to those of the
 * Anthropic Message Batches docs.
 */
export const AnthropicSettings = z.strictObject({
  inProgressMs: Milliseconds.default(1_500),
  /** Between the last item and `ended`; the batch still shows `in_progress`. */
  endingMs: Milliseconds.default(300),
  cancelingMs: Milliseconds.default(300),
  /** When set, a batch is in progress for as long as its items take at this rate, instead of `inProgressMs`. */
  itemsPerSecond: z.number().positive().nullable().default(null),
  /** From creation to `expires_at`. */
  windowMs: Milliseconds.default(DAY_MS),
  maxItems: Limit.default(100_000),
  /** Of the whole create body. The docs say 256 MB; read as millions, so that a caller that reads them as MiB is caught. */
  maxBytes: Limit.default(256_000_000),
  /** Requests that may wait in all unfinished batches together. */
  queuedRequestLimit: Limit.default(200_000),
  /** From creation; afterwards the batch is archived. */
  resultLifeMs: Milliseconds.default(29 * DAY_MS),
  /** What cancelling a batch that has ended otherwise answers; the docs do not say. */
  cancelEndedStatus: z.union([z.literal(200), z.literal(400), z.literal(409)]).default(400),
  /** How long a single call takes to be answered, once it is accepted. */
  replyLatencyMs: Milliseconds.default(0),
  /** Varies the order of result lines. */
  seed: z.number().int().default(1),
});
export type AnthropicSettings = z.output<typeof AnthropicSettings>;
export type AnthropicSettingsChange = z.input<typeof AnthropicSettings>;
