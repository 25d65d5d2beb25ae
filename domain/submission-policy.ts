/** After this the gateway no longer sends a create that it has prepared. */
export const CREATE_DEADLINE_MS = 120_000;

/** How long after the deadline a created batch may still be missing from a provider's list. */
export const LISTING_LAG_MS = 120_000;

/** Look-ups that have to find nothing, all after deadline and lag, before a batch counts as never made. */
export const LOOK_UPS_BEFORE_ABSENT = 2;

/** A full queue at the provider (OpenAI `token_limit_exceeded`, Gemini quota) frees as batches end: minutes, not seconds. */
export const QUEUE_FULL_BACKOFF = { minMs: 60_000, maxMs: 1_800_000, factor: 2, jitter: 0.2 } as const;

/** Creates refused for a full queue before the shard's items fail; with the backoff above, some two days. */
export const MAX_QUEUE_FULL_ATTEMPTS = 100;

/** How long a batch known to exist may answer 404, or with something that is no batch, before it counts as lost. */
export const PROVIDER_LOST_AFTER_MS = 1_800_000;
