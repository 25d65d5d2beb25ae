/** Of all the waiting so far: each wait is half as long again as those before it together, so a long refusal costs few sends. */
const PART_OF_WAITED = 0.5;
const MAX_DELAY_MS = 30 * 60_000;
/** Jobs refused by one full queue must not all come back in the same moment. */
const JITTER = 0.2;

export interface RefusedSend {
  /** Since the first refusal. */
  readonly waitedMs: number;
  readonly firstDelayMs: number;
  /** The provider's own hint, which is kept to exactly; null where it gave none. */
  readonly retryAfterMs: number | null;
  /** From 0 up to 1, made outside. */
  readonly random01: number;
}

/** Milliseconds until a refused upload or create is sent again. */
export function resendDelay({ waitedMs, firstDelayMs, retryAfterMs, random01 }: RefusedSend): number {
  if (retryAfterMs !== null) return retryAfterMs;
  const grown = Math.max(firstDelayMs, Math.max(0, waitedMs) * PART_OF_WAITED);
  return Math.round(Math.min(Math.max(MAX_DELAY_MS, firstDelayMs), grown) * (1 + JITTER * random01));
}
