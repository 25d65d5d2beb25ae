import { type BatchLifetime, type BatchLimits, type CapabilityRow, DEFAULT_MAX_ITEM_BYTES } from './capability-row.ts';
import { NO_STREAM, UNPRICED } from './refusals-of-every-provider.ts';

const SOURCE = 'OpenAI Batch API guide and reference, openai SDK types (read 2026-11-30)';

/**
 * 50,000 requests and 200 MB a file, 2,000 creations an hour. Enqueued tokens are limited by model and tier; no table of
 * them is published, and the refusal of a batch names the limit.
 */
export const OPENAI_LIMITS: BatchLimits = {
  maxItems: 50_000,
  maxBytes: 200_000_000,
  maxItemBytes: DEFAULT_MAX_ITEM_BYTES,
  maxEmbeddingInputs: null,
  maxCreatesPerHour: 2_000,
  maxQueuedItems: null,
  maxQueuedTokens: null,
  maxConcurrentBatches: null,
};

/** Results are files that are kept for 30 days after the end; what finished is kept and billed, whatever the end. */
export const OPENAI_LIFETIME: BatchLifetime = {
  windowHours: 24,
  resultRetentionDays: 30,
  onExpiry: 'finished_items_kept',
  onCancel: 'finished_items_kept',
};

const CHAT_REFUSALS = [NO_STREAM, ...UNPRICED];
const ROW = {
  provider: 'openai',
  isBatchEligible: true,
  lifetime: OPENAI_LIFETIME,
  sizesDiffer: false,
  source: SOURCE,
} as const;

const ALWAYS_REASON = ['gpt-6.1-sol*', 'gpt-6.2-*'];
const ALWAYS_REASON_REFUSALS = [
  ...CHAT_REFUSALS,
  {
    feature: 'REASONING_OFF' as const,
    message: 'This model always reasons. Remove the effort of none, or choose another model.',
  },
];

export const OPENAI_CAPABILITIES: readonly CapabilityRow[] = [
  {
    ...ROW,
    endpoint: 'chat.completions',
    models: ALWAYS_REASON,
    refuses: ALWAYS_REASON_REFUSALS,
    limits: OPENAI_LIMITS,
    source: `${SOURCE}; reasoning effort: pages of GPT-6.2, public catalogues for GPT-6.1 Sol`,
  },
  { ...ROW, endpoint: 'chat.completions', models: ['*'], refuses: CHAT_REFUSALS, limits: OPENAI_LIMITS },
  {
    ...ROW,
    endpoint: 'responses',
    models: ALWAYS_REASON,
    refuses: ALWAYS_REASON_REFUSALS,
    limits: OPENAI_LIMITS,
    source: `${SOURCE}; reasoning effort: pages of GPT-6.2, public catalogues for GPT-6.1 Sol`,
  },
  { ...ROW, endpoint: 'responses', models: ['*'], refuses: CHAT_REFUSALS, limits: OPENAI_LIMITS },
  {
    ...ROW,
    endpoint: 'embeddings',
    models: ['*'],
    refuses: [],
    limits: { ...OPENAI_LIMITS, maxEmbeddingInputs: 50_000, maxQueuedItems: 1_000_000 },
  },
  { ...ROW, endpoint: 'moderations', models: ['*'], refuses: UNPRICED, limits: OPENAI_LIMITS },
];
