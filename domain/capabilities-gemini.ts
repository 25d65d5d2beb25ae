import {
  type BatchLifetime,
  type BatchLimits,
  type CapabilityRow,
  DEFAULT_MAX_ITEM_BYTES,
  type FeatureRefusal,
} from './capability-row.ts';
import { NO_STREAM, UNPRICED, UNTRANSLATABLE } from './refusals-of-every-provider.ts';

const SOURCE = 'Gemini API batch, rate limit and files docs, @google/genai types (read 2026-11-30)';

/** An input file of 2 GB, 100 batches at once. No count of requests is published: the gateway's own. */
const LIMITS: BatchLimits = {
  maxItems: 100_000,
  maxBytes: 2_000_000_000,
  maxItemBytes: DEFAULT_MAX_ITEM_BYTES,
  maxEmbeddingInputs: null,
  maxCreatesPerHour: null,
  maxQueuedItems: null,
  maxQueuedTokens: null,
  maxConcurrentBatches: 100,
};

/**
 * A batch that waits or runs for 48 hours expires, and nothing of it can be had; partial results of a cancelled one are
 * not promised. How long results are kept is not published: as long as any other file, 48 hours.
 */
const LIFETIME: BatchLifetime = {
  windowHours: 48,
  resultRetentionDays: 2,
  onExpiry: 'nothing_kept',
  onCancel: 'nothing_kept',
};

/** Families with the tokens that may be enqueued at once on the lowest tier; null where no number is published. */
const FAMILIES: readonly (readonly [models: readonly string[], maxQueuedTokens: number | null])[] = [
  [['gemini-2.5-flash-lite*', 'gemini-3.1-flash-lite*', 'gemini-3.5-flash-lite*'], 10_000_000],
  [['gemini-2.5-flash*', 'gemini-3.5-flash*', 'gemini-3.8-flash*'], 3_000_000],
  [['gemini-2.5-pro*', 'gemini-3.1-pro*'], 5_000_000],
  [['*'], null],
];
const EMBEDDING_QUEUED_TOKENS = 500_000;

/** What `generateContent` has no member for. */
const NO_SUCH_MEMBER: readonly FeatureRefusal[] = [
  { feature: 'END_USER', message: 'Gemini takes no id of an end user. Remove user and safety_identifier.' },
  {
    feature: 'TOOL_RULES',
    message:
      'Gemini has neither strict functions nor a switch for parallel calls. Remove strict=true and parallel_tool_calls=false.',
  },
];

const EMBEDDING_REFUSALS: readonly FeatureRefusal[] = [
  {
    feature: 'MULTIPLE_INPUTS',
    message: 'Gemini embeds one text for each item of a batch. Send every text as an item of its own.',
  },
  { feature: 'TOKEN_INPUT', message: "Token ids belong to another provider's tokenizer. Send the text." },
  { feature: 'END_USER', message: 'Gemini takes no id of an end user. Remove user.' },
  { feature: 'PROVIDER_SPECIFIC', message: 'Gemini gives vectors as numbers. Use an encoding_format of float.' },
  {
    feature: 'UNKNOWN_FIELD',
    message: 'A member that the gateway does not know cannot be translated for Gemini. Remove it.',
  },
];

const ROW = {
  provider: 'gemini',
  isBatchEligible: true,
  lifetime: LIFETIME,
  sizesDiffer: false,
  source: SOURCE,
} as const;
const CHAT_REFUSALS = [NO_STREAM, ...UNPRICED, ...NO_SUCH_MEMBER, ...UNTRANSLATABLE];
const NATIVE_REFUSALS = [NO_STREAM, ...UNPRICED];

/** `generate_content` bodies pass as they are; chat completions and embeddings are translated. */
export const GEMINI_CAPABILITIES: readonly CapabilityRow[] = [
  ...FAMILIES.map(
    ([models, maxQueuedTokens]): CapabilityRow => ({
      ...ROW,
      endpoint: 'chat.completions',
      models,
      refuses: CHAT_REFUSALS,
      limits: { ...LIMITS, maxQueuedTokens },
    }),
  ),
  ...FAMILIES.map(
    ([models, maxQueuedTokens]): CapabilityRow => ({
      ...ROW,
      endpoint: 'generate_content',
      models,
      refuses: NATIVE_REFUSALS,
      limits: { ...LIMITS, maxQueuedTokens },
    }),
  ),
  {
    ...ROW,
    endpoint: 'embeddings',
    models: ['*'],
    refuses: EMBEDDING_REFUSALS,
    limits: { ...LIMITS, maxQueuedTokens: EMBEDDING_QUEUED_TOKENS },
  },
];
