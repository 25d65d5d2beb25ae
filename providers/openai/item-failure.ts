import { type FailureCode, failureClassOf } from '../../domain/failure.ts';
import type { LineResult } from '../provider.ts';
import { readSafeText } from '../safe-text.ts';
import { type ErrorMeaning, findMeaning } from './error-codes.ts';

type FailedResult = Extract<LineResult, { kind: 'failed' }>;

/** OpenAI's error object: `response.body.error`, a line's own `error`, or a response's `error`. */
export interface ItemError {
  type: string | null;
  code: string | null;
  message: string | null;
}

const MAX_WORD_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 4000;

const CODE_OF_MEANING: { readonly [meaning in ErrorMeaning]: FailureCode } = {
  account: 'provider_account_exhausted',
  credential: 'provider_credential_rejected',
  safety: 'safety_blocked',
  rate: 'rate_limited',
  queue: 'rate_limited',
  overloaded: 'provider_overloaded',
  server: 'provider_server_error',
  model: 'model_unavailable',
  context: 'context_too_long',
  timeout: 'provider_timeout',
  invalid: 'invalid_request',
  file: 'invalid_request',
};

/** Null where `error` holds no word: null, `{}`, or something that is no object. */
export function readItemError(error: unknown): ItemError | null {
  if (typeof error === 'string') {
    const message = readSafeText(error, MAX_MESSAGE_LENGTH);
    return message === null ? null : { type: null, code: null, message };
  }
  if (typeof error !== 'object' || error === null) return null;
  const { type, code, message } = error as Record<string, unknown>;
  const words = {
    type: readSafeText(type, MAX_WORD_LENGTH),
    code: readSafeText(code, MAX_WORD_LENGTH),
    message: readSafeText(message, MAX_MESSAGE_LENGTH),
  };
  return words.type === null && words.code === null && words.message === null ? null : words;
}

/**
 * A request that was refused or broke. What the error's words mean counts before the status: a spend limit comes as 429
 * and as 400, a refusal of content as 400.
 */
export function classifyItemFailure(error: ItemError | null, statusCode: number | null): FailedResult {
  return toFailed(findCode(error, statusCode), error, statusCode);
}

export function toFailed(code: FailureCode, error: ItemError | null, statusCode: number | null): FailedResult {
  return {
    kind: 'failed',
    class: failureClassOf(code),
    code,
    message: error?.message ?? error?.code ?? describeStatus(statusCode),
    nativeType: error?.type ?? null,
    nativeCode: error?.code ?? null,
    statusCode,
  };
}

function findCode(error: ItemError | null, statusCode: number | null): FailureCode {
  const meaning = error === null ? null : findMeaning(error);
  // The coarse `invalid_request_error` also stands on 401, 403, 429: there the status says more.
  if (meaning !== null && meaning !== 'invalid') return CODE_OF_MEANING[meaning];
  if (statusCode !== null && statusCode >= 400) return codeOfStatus(statusCode);
  if (meaning !== null) return CODE_OF_MEANING[meaning];
  return error === null ? 'no_provider_detail' : 'unknown_provider_error';
}

function codeOfStatus(statusCode: number): FailureCode {
  if (statusCode === 401 || statusCode === 403) return 'provider_credential_rejected';
  if (statusCode === 402) return 'provider_account_exhausted';
  if (statusCode === 408 || statusCode === 504) return 'provider_timeout';
  if (statusCode === 409) return 'provider_server_error';
  if (statusCode === 429) return 'rate_limited';
  if (statusCode === 503) return 'provider_overloaded';
  return statusCode >= 500 ? 'provider_server_error' : 'invalid_request';
}

function describeStatus(statusCode: number | null): string {
  return statusCode === null || statusCode === 0
    ? 'the provider gave no detail'
    : `the provider answered ${statusCode}`;
}
