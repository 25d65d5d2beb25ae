/** Why a call to a provider did not succeed, in our words. Closed. */
export const PROVIDER_ERROR_CODES = [
  'rate_limited',
  'quota_exhausted',
  'capacity_full',
  'credential_refused',
  'rejected',
  'not_found',
  'already_ended',
  'too_large',
  'unavailable',
  'connection_lost',
  'timed_out',
  'aborted',
  'malformed_reply',
] as const;
export type ProviderErrorCode = (typeof PROVIDER_ERROR_CODES)[number];

/**
 * A failed call to a provider: the facts and one decision, `isRetryable`. The message may carry the provider's words,
 * so it is for operators; it never holds a key or a request body.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  /** HTTP status, null when no reply arrived. */
  readonly status: number | null;
  /** The provider's own request id, for its support. */
  readonly requestId: string | null;
  /** The provider's hint, null where it gave none. */
  readonly retryAfterMs: number | null;
  readonly isRetryable: boolean;
  /** False only where the provider surely did not act: it refused, or the request never left. */
  readonly mayHaveActed: boolean;

  constructor(facts: {
    code: ProviderErrorCode;
    message: string;
    status?: number | null;
    requestId?: string | null;
    retryAfterMs?: number | null;
    isRetryable: boolean;
    mayHaveActed: boolean;
    cause?: unknown;
  }) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.isRetryable = facts.isRetryable;
    this.mayHaveActed = facts.mayHaveActed;
  }
}
