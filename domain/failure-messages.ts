import type { FailureCode } from './failure.ts';

/** What a tenant is told of a failed item: ours, without a provider's words, ids or keys. */
export const FAILURE_MESSAGES: { readonly [code in FailureCode]: string } = {
  provider_server_error: 'The provider failed while it ran this request.',
  provider_overloaded: 'The provider was overloaded and did not run this request.',
  provider_timeout: 'The provider took too long over this request.',
  no_provider_detail: 'The provider reported a failure without saying why.',
  unknown_provider_error: 'The provider reported a failure that the gateway does not know.',
  provider_account_exhausted: "The gateway's account at the provider is out of credit.",
  provider_credential_rejected: "The provider refused the gateway's credential.",
  provider_lost: 'The provider stopped knowing the batch this item was in.',
  given_up: 'An operator gave this item up.',
  rate_limited: "The provider's rate limit kept this request from running.",
  provider_queue_full: "The provider's queue stayed full for as long as the gateway waits.",
  missing_result: 'The provider ended the batch without a result for this item.',
  unmatched_result: 'The provider returned results that name no item.',
  malformed_result: 'The provider returned a result that cannot be read.',
  batch_expired: "The provider's window ended before this item ran.",
  deadline: "The job's deadline passed before this item ran.",
  job_cancelled: 'The job was cancelled before this item ran.',
  provider_cancelled: 'The batch was cancelled before this item ran.',
  invalid_request: 'The provider refused this request as invalid. Correct it before sending it again.',
  context_too_long: "This request is longer than the model's context. Shorten it or choose another model.",
  model_unavailable: 'The model is not available to the gateway for this request.',
  provider_rejected: 'The provider refused the batch this item was in.',
  safety_blocked: "The provider's safety system blocked this request or its answer. Review it before sending it again.",
};
