import { APIConnectionTimeoutError, APIError, OpenAIError } from 'openai';
import { toNetworkError } from '../network-error.ts';
import { ProviderError, type ProviderErrorCode } from '../provider-error.ts';
import { redact } from '../reply-error.ts';
import { parseRetryAfterMs } from '../retry-after.ts';
import { type ErrorMeaning, findMeaning } from './error-codes.ts';
import { ErrorBody } from './wire.ts';

type Verdict = Pick<ProviderError, 'code' | 'isRetryable' | 'mayHaveActed'>;

const REFUSED = { isRetryable: false, mayHaveActed: false };
const REFUSED_FOR_NOW = { isRetryable: true, mayHaveActed: false };
/** An error page of a proxy in between looks the same as the provider's own, and the proxy may have passed the call on. */
const UNCLEAR = { isRetryable: true, mayHaveActed: true };

/** Refusals whose words say more than their status does. */
const VERDICT_OF_MEANING: { readonly [meaning in ErrorMeaning]?: Verdict } = {
  account: { code: 'quota_exhausted', ...REFUSED },
  queue: { code: 'capacity_full', ...REFUSED_FOR_NOW },
  model: { code: 'rejected', ...REFUSED },
  rate: { code: 'rate_limited', ...REFUSED_FOR_NOW },
  // What was uploaded or created a moment ago may be unknown to the node that answers; the caller bounds the repeats.
  file: { code: 'not_found', ...REFUSED_FOR_NOW },
};

/** Any failure of a call through the openai SDK. `now` is needed only where a reply asks to wait until a date. */
export function toProviderError(error: unknown, now: Date): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof APIError && typeof error.status === 'number') return toStatusError(error, error.status, now);
  if (error instanceof APIConnectionTimeoutError) {
    return new ProviderError({ code: 'timed_out', message: redact(error.message), ...UNCLEAR, cause: error });
  }
  // Without a status and outside the APIError family, the SDK refused to build the request.
  if (error instanceof OpenAIError && !(error instanceof APIError)) {
    return new ProviderError({ code: 'rejected', message: redact(error.message), ...REFUSED, cause: error });
  }
  return toNetworkError(error);
}

function toStatusError(error: APIError, status: number, now: Date): ProviderError {
  return new ProviderError({
    ...findVerdict(error, status),
    message: redact(error.message),
    status,
    requestId: error.requestID ?? null,
    retryAfterMs: error.headers === undefined ? null : parseRetryAfterMs(error.headers, now),
  });
}

function findVerdict(error: APIError, status: number): Verdict {
  const body = ErrorBody.safeParse(error.error).data;
  const words = {
    type: body?.type ?? null,
    code: body?.code === undefined || body.code === null ? null : String(body.code),
    message: body?.message ?? null,
  };
  const meaning = status < 500 ? findMeaning(words) : null;
  return (meaning !== null && VERDICT_OF_MEANING[meaning]) || verdictOfStatus(status);
}

/** OpenAI's guide to error codes; what is not named there goes by its class. */
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
