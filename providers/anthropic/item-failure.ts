import { type FailureCode, failureClassOf } from '../../domain/failure.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import type { LineResult } from '../provider.ts';
import { readSafeText } from '../safe-text.ts';
import { type ErrorMeaning, type ErrorWords, findMeaning } from './error-codes.ts';

export type FailedResult = Extract<LineResult, { kind: 'failed' }>;

const MAX_WORD_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 4000;
/** A result nests its error twice; a little more is not worth a stack. */
const MAX_NESTING = 4;

const CODE_OF_MEANING: { readonly [meaning in ErrorMeaning]: FailureCode } = {
  account: 'provider_account_exhausted',
  credential: 'provider_credential_rejected',
  safety: 'safety_blocked',
  rate: 'rate_limited',
  overloaded: 'provider_overloaded',
  server: 'provider_server_error',
  model: 'model_unavailable',
  context: 'context_too_long',
  timeout: 'provider_timeout',
  invalid: 'invalid_request',
};

/**
 * The words of an errored result: `result.error` is a whole error reply, whose own `error` has type and message
 * (@anthropic-ai/sdk, `MessageBatchErroredResult`). Null where there is no word: null, `{}`, or no object.
 */
export function readItemError(error: unknown): ErrorWords | null {
  if (typeof error === 'string') return readWords({ message: error });
  let inner = error;
  for (let depth = 0; depth < MAX_NESTING && isJsonObject(inner) && isJsonObject(inner['error']); depth += 1) {
    inner = inner['error'];
  }
  return readWords(inner);
}

/** A request that was refused or broke. What the words mean counts before their type. */
export function classifyItemFailure(error: ErrorWords | null): FailedResult {
  if (error === null) return toFailed('no_provider_detail', null);
  const meaning = findMeaning(error);
  return toFailed(meaning === null ? 'unknown_provider_error' : CODE_OF_MEANING[meaning], error);
}

/** Result lines carry no status. */
export function toFailed(code: FailureCode, error: ErrorWords | null): FailedResult {
  return {
    kind: 'failed',
    class: failureClassOf(code),
    code,
    message: error?.message ?? error?.code ?? error?.type ?? 'the provider gave no detail',
    nativeType: error?.type ?? null,
    nativeCode: error?.code ?? null,
    statusCode: null,
  };
}

function readWords(error: unknown): ErrorWords | null {
  if (!isJsonObject(error)) return null;
  const details = error['details'];
  const type = readSafeText(error['type'], MAX_WORD_LENGTH);
  const words = {
    // The outer object's own type, where nothing is inside it.
    type: type === 'error' ? null : type,
    code: isJsonObject(details) ? readSafeText(details['error_code'], MAX_WORD_LENGTH) : null,
    message: readSafeText(error['message'], MAX_MESSAGE_LENGTH),
  };
  return words.type === null && words.code === null && words.message === null ? null : words;
}
