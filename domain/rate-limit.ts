/** Rates are counted over windows of this length, each of which begins with its first call. */
export const RATE_WINDOW_SECONDS = 60;

/** What a call takes from the rate of its key. A call that brings items may hold a connection and a disk for an hour. */
export const CALL_COST = { read: 1, write: 2, upload: 5 } as const;
export type CallClass = keyof typeof CALL_COST;

/** How often a key may ask how documents and their batches stand, in a minute. */
export const STATUS_READS = { name: 'status', perMinute: 120 } as const;

/** Where a key or an address stands in its window. */
export interface RateStanding {
  /** Units of a window. */
  readonly limit: number;
  readonly used: number;
  /** Until the window ends. */
  readonly resetMs: number;
}

export function isWithinRate({ used, limit }: RateStanding): boolean {
  return used <= limit;
}

export function secondsToReset({ resetMs }: RateStanding): number {
  return Math.max(1, Math.ceil(resetMs / 1_000));
}

/** The fields of draft-ietf-httpapi-ratelimit-headers-10, for the policy of a name. */
export function rateLimitHeaders(
  standing: RateStanding,
  name = 'requests',
): { 'RateLimit-Policy': string; RateLimit: string } {
  const left = Math.max(0, standing.limit - standing.used);
  return {
    'RateLimit-Policy': `"${name}";q=${standing.limit};w=${RATE_WINDOW_SECONDS}`,
    RateLimit: `"${name}";r=${left};t=${secondsToReset(standing)}`,
  };
}

/** A call is told by its method and whether it brings items. */
export function classOfCall(method: string, bringsItems: boolean): CallClass {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return 'read';
  return bringsItems ? 'upload' : 'write';
}
