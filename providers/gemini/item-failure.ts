import { type FailureCode, failureClassOf } from '../../domain/failure.ts';
import type { LineResult } from '../provider.ts';
import { type ErrorMeaning, findMeaning } from './error-codes.ts';
import { type RpcCodeName, type RpcStatus, rpcCodeName } from './rpc-status.ts';

export type FailedResult = Extract<LineResult, { kind: 'failed' }>;

const CODE_OF_MEANING: { readonly [meaning in ErrorMeaning]: FailureCode } = {
  account: 'provider_account_exhausted',
  credential: 'provider_credential_rejected',
  queue: 'rate_limited',
  size: 'invalid_request',
  context: 'context_too_long',
  file: 'invalid_request',
  model: 'model_unavailable',
};

const CODE_OF_NAME: { readonly [name in RpcCodeName]: FailureCode } = {
  OK: 'unknown_provider_error',
  CANCELLED: 'provider_cancelled',
  UNKNOWN: 'provider_server_error',
  INVALID_ARGUMENT: 'invalid_request',
  DEADLINE_EXCEEDED: 'provider_timeout',
  NOT_FOUND: 'invalid_request',
  ALREADY_EXISTS: 'invalid_request',
  PERMISSION_DENIED: 'provider_credential_rejected',
  RESOURCE_EXHAUSTED: 'rate_limited',
  FAILED_PRECONDITION: 'invalid_request',
  ABORTED: 'provider_server_error',
  OUT_OF_RANGE: 'invalid_request',
  UNIMPLEMENTED: 'invalid_request',
  INTERNAL: 'provider_server_error',
  UNAVAILABLE: 'provider_overloaded',
  DATA_LOSS: 'provider_server_error',
  UNAUTHENTICATED: 'provider_credential_rejected',
};

/** The `error` of a result line. Null: there was none, and no response either. */
export function classifyItemFailure(error: RpcStatus | null): LineResult {
  if (error !== null && rpcCodeName(error) === 'CANCELLED') return { kind: 'cancelled' };
  return toFailed(error === null ? 'no_provider_detail' : findCode(error), error);
}

export function toFailed(
  code: FailureCode,
  error: Pick<RpcStatus, 'code' | 'name' | 'message'> | null,
  nativeCode = error === null || error.code === null ? null : String(error.code),
): FailedResult {
  return {
    kind: 'failed',
    class: failureClassOf(code),
    code,
    message: error?.message ?? error?.name ?? 'the provider gave no detail',
    nativeType: error?.name ?? null,
    nativeCode,
    statusCode: isHttpStatus(error?.code) ? error.code : null,
  };
}

function findCode(error: RpcStatus): FailureCode {
  const name = rpcCodeName(error);
  const isServers = name === 'INTERNAL' || name === 'UNAVAILABLE';
  const meaning = isServers ? null : findMeaning(error);
  if (meaning !== null) return CODE_OF_MEANING[meaning];
  if (name !== null) return CODE_OF_NAME[name];
  return isHttpStatus(error.code) ? codeOfStatus(error.code) : 'unknown_provider_error';
}

function isHttpStatus(code: number | null | undefined): code is number {
  return typeof code === 'number' && code >= 100;
}

function codeOfStatus(status: number): FailureCode {
  if (status === 401 || status === 403) return 'provider_credential_rejected';
  if (status === 402) return 'provider_account_exhausted';
  if (status === 408 || status === 504) return 'provider_timeout';
  if (status === 409 || status === 499) return 'provider_server_error';
  if (status === 429) return 'rate_limited';
  if (status === 503) return 'provider_overloaded';
  return status >= 500 ? 'provider_server_error' : 'invalid_request';
}
