import type { FailureCode } from '../domain/failure.ts';
import { isJsonObject, type JsonObject } from '../domain/json-object.ts';
import { watchIdle } from './idle-watchdog.ts';
import { MAX_LINE_BYTES } from './jsonl.ts';
import type { DirectAnswer, LineResult } from './provider.ts';
import { ProviderError, type ProviderErrorCode } from './provider-error.ts';
import { malformedReply } from './reply-error.ts';
import { UntranslatableRequest } from './untranslatable-request.ts';

type FailedResult = Extract<LineResult, { kind: 'failed' }>;

/** How long a direct call may take where its caller does not say: Node's fetch waits no longer for the headers. */
export const DIRECT_TIMEOUT_MS = 300_000;

/** Words fit for a log whatever stands beside them: a provider's own, never a sentence. */
const PLAIN_WORD = /^[\w.-]{1,64}$/;

/** Failures that a reply with status 200 may tell although they are not the request's; the rest is `malformed_reply`. */
const ERROR_OF_FAILURE: { readonly [code in FailureCode]?: ProviderErrorCode } = {
  provider_server_error: 'unavailable',
  provider_overloaded: 'unavailable',
  provider_timeout: 'timed_out',
  rate_limited: 'rate_limited',
  provider_account_exhausted: 'quota_exhausted',
  provider_credential_rejected: 'credential_refused',
};
const NOT_RETRYABLE: readonly ProviderErrorCode[] = ['quota_exhausted', 'credential_refused'];

/** A direct call returns its reply whole. Throws UntranslatableRequest for a request that wants it in pieces. */
export function refuseStreaming({ stream }: Readonly<Record<string, unknown>>): void {
  if (stream === undefined || stream === null || stream === false) return;
  throw new UntranslatableRequest('request.stream', 'the reply is given whole, not streamed');
}

/**
 * The object that a reply with status 200 is, and its text without the space around it. Throws ProviderError
 * `malformed_reply`, which quotes nothing: a page in a reply's place may repeat the request. Throws as `watchIdle` does.
 */
export async function readReplyObject(
  response: Response,
  limits: { idleTimeoutMs: number; signal: AbortSignal; maxBytes?: number },
): Promise<{ json: string; body: JsonObject }> {
  const bytes = await readBytes(response, limits);
  let json: string;
  let body: unknown;
  try {
    json = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    body = JSON.parse(json);
  } catch {
    throw malformedReply(null, 'an answer in JSON');
  }
  if (!isJsonObject(body)) throw malformedReply(null, 'an answer');
  return { json, body };
}

/** An error object under status 200: somewhere between the model and us something broke. */
export function errorInPlace(): ProviderError {
  return malformedReply(null, 'an answer but an error');
}

/**
 * What a reply with status 200 says of its request. Failures that say nothing of it, and cost nothing, are thrown as
 * ProviderError.
 */
export function toDirectAnswer(result: LineResult): DirectAnswer {
  if (result.kind === 'completed') return result;
  if (result.kind !== 'failed') throw malformedReply(null, 'an answer');
  if (isAboutRequest(result) || result.usage !== undefined) return result;
  const code = ERROR_OF_FAILURE[result.code];
  if (code === undefined) throw malformedReply(null, 'a whole answer');
  throw new ProviderError({
    code,
    message: `the provider answered with a failure: ${result.code}`,
    status: 200,
    isRetryable: !NOT_RETRYABLE.includes(code),
    mayHaveActed: true,
  });
}

/** Whether the same request would fail again, wherever it is sent. */
export function isAboutRequest(
  result: LineResult,
): result is FailedResult & { class: 'validation' | 'safety_blocked' } {
  return result.kind === 'failed' && (result.class === 'validation' || result.class === 'safety_blocked');
}

/**
 * A refusal that says nothing of the request, without the provider's sentences, since they may quote it; `words` are its
 * names for the error. The queue of batches is not in a direct call's way: what is full here is a limit of the rate.
 */
export function toDirectError(error: ProviderError, words: readonly (string | null)[]): ProviderError {
  const { status, requestId, retryAfterMs, isRetryable, mayHaveActed } = error;
  if (status === null) return error;
  const names = words.filter((word) => word !== null && PLAIN_WORD.test(word));
  return new ProviderError({
    code: error.code === 'capacity_full' ? 'rate_limited' : error.code,
    message: `the provider answered ${[status, ...names].join(' ')}`,
    ...{ status, requestId, retryAfterMs, isRetryable, mayHaveActed },
  });
}

async function readBytes(
  response: Response,
  { maxBytes = MAX_LINE_BYTES, ...limits }: { idleTimeoutMs: number; signal: AbortSignal; maxBytes?: number },
): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of watchIdle(response.body, limits)) {
    length += chunk.length;
    if (length > maxBytes) throw malformedReply(null, `an answer of at most ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
