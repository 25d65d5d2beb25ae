import {
  type BatchLifetime,
  type BatchLimits,
  type CapabilityRow,
  DEFAULT_MAX_ITEM_BYTES,
  type FeatureRefusal,
} from './capability-row.ts';
import { NO_STREAM, UNPRICED, UNTRANSLATABLE } from './refusals-of-every-provider.ts';

export type AnthropicApiVersion = '2026-10-21' | '2023-06-01';

const SOURCE = 'Anthropic Message Batches docs, @anthropic-ai/sdk types (read 2026-11-30)';

/** 100,000 requests or a body of 256 MB. 200,000 requests may wait on the lowest usage tier (rate limits page). */
const LIMITS: BatchLimits = {
  maxItems: 100_000,
  maxBytes: 256_000_000,
  maxItemBytes: DEFAULT_MAX_ITEM_BYTES,
  maxEmbeddingInputs: null,
  maxCreatesPerHour: null,
  maxQueuedItems: 200_000,
  maxQueuedTokens: null,
  maxConcurrentBatches: null,
};

/** Results can be read for 29 days from the creation. */
const LIFETIME: BatchLifetime = {
  windowHours: 24,
  resultRetentionDays: 29,
  onExpiry: 'finished_items_kept',
  onCancel: 'finished_items_kept',
};

/** Models that refuse a forced tool choice (model pages). */
const NEVER_FORCED = ['claude-opus-5-5*', 'claude-fable-5*', 'claude-sonnet-5-5*'];
const NO_FORCED_TOOL: FeatureRefusal = {
  feature: 'FORCED_TOOL',
  message: 'This model does not let a request force a tool. Use tool_choice auto, or choose another model.',
};

/** From API version 2026-10-21 on, also at their default values. */
const NO_SAMPLING: FeatureRefusal = {
  feature: 'SAMPLING',
  message: "Anthropic's API version 2026-10-21 takes no temperature, top_p or top_k. Remove them.",
};

/** What a message has no member for. */
const NO_SUCH_MEMBER: readonly FeatureRefusal[] = [
  { feature: 'SEED', message: 'Anthropic has no seed. Remove it.' },
  {
    feature: 'MULTIPLE_CHOICES',
    message: 'Anthropic gives one reply to a request. Remove n, or send the item several times.',
  },
  {
    feature: 'WIDE_SAMPLING',
    message: 'Anthropic has no frequency or presence penalty and no temperature above 1. Remove them.',
  },
  {
    feature: 'JSON_MODE',
    message: 'Anthropic has no JSON mode without a schema. Use a response_format of type json_schema.',
  },
  { feature: 'IMAGE_DETAIL', message: 'Anthropic has no level of detail for images. Remove detail, or use auto.' },
  { feature: 'VIDEO_INPUT', message: 'Anthropic takes no video.' },
  {
    feature: 'OTHER_MEDIA',
    message:
      'Anthropic takes JPEG, PNG, GIF and WebP as images, and PDF and text as files. Convert the attachment, and send images as image_url.',
  },
];

/** Inside a batch (Message Batches docs, "unsupported parameters"). */
const NO_STATE: FeatureRefusal = {
  feature: 'PROVIDER_STATE',
  message: "Anthropic's batch mode refuses store and previous_thread_event_id. Remove them.",
  ofBatchMode: true,
};

/** `messages` bodies pass as they are; chat completions are translated. The API version is part of every request. */
export function anthropicCapabilities(apiVersion: AnthropicApiVersion): readonly CapabilityRow[] {
  const sampling = apiVersion === '2026-10-21' ? [NO_SAMPLING] : [];
  const chat = [NO_STREAM, ...UNPRICED, ...sampling, ...NO_SUCH_MEMBER, ...UNTRANSLATABLE];
  const native = [NO_STREAM, ...UNPRICED, ...sampling, NO_STATE];
  const row = {
    provider: 'anthropic',
    isBatchEligible: true,
    limits: LIMITS,
    lifetime: LIFETIME,
    sizesDiffer: true,
    source: SOURCE,
  } as const;
  return [
    { ...row, endpoint: 'chat.completions', models: NEVER_FORCED, refuses: [...chat, NO_FORCED_TOOL] },
    { ...row, endpoint: 'chat.completions', models: ['*'], refuses: chat },
    { ...row, endpoint: 'messages', models: NEVER_FORCED, refuses: [...native, NO_FORCED_TOOL] },
    { ...row, endpoint: 'messages', models: ['*'], refuses: native },
  ];
}
