import type { DocumentErrorCode } from './document-error.ts';
import type { FailureCode } from './failure.ts';

/** What a document shows of the failure that its item came to. */
export const DOCUMENT_ERROR_OF: { readonly [code in FailureCode]: DocumentErrorCode } = {
  provider_server_error: 'provider_failed',
  provider_overloaded: 'provider_failed',
  provider_timeout: 'provider_failed',
  provider_unreachable: 'provider_failed',
  worker_lost: 'internal',
  no_provider_detail: 'provider_failed',
  unknown_provider_error: 'provider_failed',
  provider_account_exhausted: 'provider_failed',
  provider_credential_rejected: 'provider_failed',
  provider_lost: 'provider_failed',
  given_up: 'provider_failed',
  rate_limited: 'provider_failed',
  provider_queue_full: 'provider_failed',
  missing_result: 'provider_failed',
  unmatched_result: 'provider_failed',
  malformed_result: 'provider_failed',
  batch_expired: 'expired',
  deadline: 'expired',
  job_cancelled: 'upstream_canceled',
  provider_cancelled: 'upstream_canceled',
  invalid_request: 'request_refused',
  context_too_long: 'request_refused',
  model_unavailable: 'request_refused',
  provider_rejected: 'request_refused',
  safety_blocked: 'safety_blocked',
};

/**
 * Whether a repair would be charged at a dearer tier than its two requests are: their tokens are settled together, and the
 * repair sends the document, the reply and the problems once more. Such a document is not asked about again.
 */
export function wouldCrossTier(
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
  aboveInputTokens: number | null,
): boolean {
  if (aboveInputTokens === null || inputTokens > aboveInputTokens) return false;
  return 2 * inputTokens + outputTokens + PROBLEM_TOKENS > aboveInputTokens;
}

/** Of the list of problems, at most. */
export const PROBLEM_TOKENS = 2_000;
