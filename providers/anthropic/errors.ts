import { AnthropicError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { toNetworkError } from '../network-error.ts';
import { ProviderError, type ProviderErrorCode } from '../provider-error.ts';
import { redact } from '../reply-error.ts';
import { parseRetryAfterMs } from '../retry-after.ts';
import { type ErrorMeaning, type ErrorWords, findMeaning } from './error-codes.ts';
import { ErrorBody } from './wire.ts';

type Verdict = Pick<ProviderError, 'code' | 'isRetryable' | 'mayHaveActed'>;

const REFUSED = { isRetryable: false, mayHaveActed: false };
const REFUSED_FOR_NOW = { isRetryable: true, mayHaveActed: false };
/** An error page of a proxy in between looks the same as the provider's own, and the proxy may have passed the call on. */
const UNCLEAR = { isRetryable: true, mayHaveActed: true };

/** Refusals whose words say more than their status does. */
const VERDICT_OF_MEANING: { readonly [meaning in ErrorMeaning]?: Verdict } = {
  account: { code: 'quota_exhausted', ...REFUSED },
  credential: { code: 'credential_refused', ...REFUSED },
  model: { code: 'rejected', ...REFUSED },
};

/** Any failure of a call through the Anthropic SDK. `now` is needed only where a reply asks to wait until a date. */
export function toProviderError(error: unknown, now: Date): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof APIError && typeof error.status === 'number') return toStatusError(error, error.status, now);
  if (error instanceof APIConnectionTimeoutError) {
    return new ProviderError({ code: 'timed_out', message: redact(error.message), ...UNCLEAR, cause: error });
  }
  // Without a status and outside the APIError family, the SDK refused to build the request.
  if (error instanceof AnthropicError && !(error instanceof APIError)) {
    return new ProviderError({ code: 'rejected', message: redact(error.message), ...REFUSED, cause: error });
  }
  return toNetworkError(error);
}

/** A reply that is not Anthropic's error object, such as a proxy's page, is not quoted: it may repeat the request. */
function toStatusError(error: APIError, status: number, now: Date): ProviderError {
  const words = readWords(error.error);
  return new ProviderError({
    ...findVerdict(words, status),
    message: redact(words.message ?? words.code ?? words.type ?? `the provider answered ${status}`),
    status,
    requestId: error.requestID ?? null,
    retryAfterMs: error.headers === undefined ? null : parseRetryAfterMs(error.headers, now),
  });
}

function readWords(body: unknown): ErrorWords {
  const inner = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  const { data } = ErrorBody.safeParse(inner);
  return { type: data?.type ?? null, code: data?.details?.error_code ?? null, message: data?.message ?? null };
}

function findVerdict(words: ErrorWords, status: number): Verdict {
  if (status === 429 && isQueueFull(words)) return { code: 'capacity_full', ...REFUSED_FOR_NOW };
  const meaning = status < 500 ? findMeaning(words) : null;
  return (meaning !== null && VERDICT_OF_MEANING[meaning]) || verdictOfStatus(status);
}

/** The limit of queued batch requests, told from the others of 429 by its words alone (Anthropic rate limits docs). */
function isQueueFull({ code, message }: ErrorWords): boolean {
  return /\bqueue/i.test(message ?? '') || /queue/i.test(code ?? '');
}

/**
 * Anthropic's API errors page; what is not named there goes by its class. 404 may be said of a batch created a moment
 * ago, by a node that does not know it yet (public reports): the caller bounds the repeats.
 */
function verdictOfStatus(status: number): Verdict {
  const refusal: Readonly<Record<number, ProviderErrorCode>> = {
    401: 'credential_refused',
    402: 'quota_exhausted',
    403: 'credential_refused',
    413: 'too_large',
  };
  if (status === 429) return { code: 'rate_limited', ...REFUSED_FOR_NOW };
  if (status === 404) return { code: 'not_found', ...REFUSED_FOR_NOW };
  if (status === 408 || status === 504) return { code: 'timed_out', ...UNCLEAR };
  if (status === 409 || status >= 500) return { code: 'unavailable', ...UNCLEAR };
  if (status >= 400) return { code: refusal[status] ?? 'rejected', ...REFUSED };
  return { code: 'malformed_reply', ...UNCLEAR };
}
