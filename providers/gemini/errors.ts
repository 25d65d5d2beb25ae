import { toNetworkError } from '../network-error.ts';
import { ProviderError, type ProviderErrorCode } from '../provider-error.ts';
import { malformedReply, redact } from '../reply-error.ts';
import { parseRetryAfterMs } from '../retry-after.ts';
import { type ErrorMeaning, findMeaning } from './error-codes.ts';
import { type RpcStatus, readRpcStatus } from './rpc-status.ts';

type Verdict = Pick<ProviderError, 'code' | 'isRetryable' | 'mayHaveActed'>;

const REFUSED = { isRetryable: false, mayHaveActed: false };
const REFUSED_FOR_NOW = { isRetryable: true, mayHaveActed: false };
/** An error page of a proxy in between looks the same as the provider's own, and the proxy may have passed the call on. */
const UNCLEAR = { isRetryable: true, mayHaveActed: true };

/** A key in the query of a URL that is quoted, and the newer form of Google's keys. */
const KEYS = /([?&]key=)[^&\s"']+|\bAQ\.[\w.-]{4,}/g;

const VERDICT_OF_MEANING: { readonly [meaning in ErrorMeaning]: Verdict } = {
  account: { code: 'quota_exhausted', ...REFUSED },
  credential: { code: 'credential_refused', ...REFUSED },
  queue: { code: 'capacity_full', ...REFUSED_FOR_NOW },
  size: { code: 'too_large', ...REFUSED },
  context: { code: 'rejected', ...REFUSED },
  // What was uploaded or created a moment ago may be unknown to the node that answers; the caller bounds the repeats.
  file: { code: 'not_found', ...REFUSED_FOR_NOW },
  model: { code: 'rejected', ...REFUSED },
};

/** Any failure of a call that brought no reply. */
export function toProviderError(error: unknown): ProviderError {
  // What failed to parse is quoted in the error, and a reply may hold anything.
  return error instanceof SyntaxError ? malformedReply(null, 'JSON') : toNetworkError(error);
}

/**
 * A reply with another status than 200 (Gemini API troubleshooting guide; google.rpc error model). `body` is its text:
 * only the message of a Google error is kept of it. `now` is needed only where a reply asks to wait until a date.
 */
export function toStatusError(reply: { status: number; headers: Headers; body: string }, now: Date): ProviderError {
  const { status, headers } = reply;
  const words = readErrorBody(reply.body);
  return new ProviderError({
    ...findVerdict(status, words),
    message: redact((words?.message ?? `the provider answered ${status}`).replace(KEYS, '$1…')),
    status,
    retryAfterMs: words?.retryDelayMs ?? parseRetryAfterMs(headers, now),
  });
}

/** `{error: {...}}`, in a list of one where the server would have streamed. Null for what is no error of Google's. */
export function readErrorBody(body: string): RpcStatus | null {
  try {
    const parsed: unknown = JSON.parse(body);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return typeof first === 'object' && first !== null && 'error' in first ? readRpcStatus(first.error) : null;
  } catch {
    return null;
  }
}

function findVerdict(status: number, words: RpcStatus | null): Verdict {
  const meaning = words === null || status >= 500 ? null : findMeaning(words);
  return meaning === null ? verdictOfStatus(status) : VERDICT_OF_MEANING[meaning];
}

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
  if (status === 409 || status === 499 || status >= 500) return { code: 'unavailable', ...UNCLEAR };
  if (status >= 400) return { code: refusal[status] ?? 'rejected', ...REFUSED };
  return { code: 'malformed_reply', ...UNCLEAR };
}
