/** Every public error code and its HTTP status. The list is closed: the reference page is made from it. */
export const STATUS_OF = {
  invalid_json: 400,
  invalid_request: 400,
  invalid_item: 400,
  invalid_cursor: 400,
  duplicate_custom_id: 400,
  custom_id_missing: 400,
  custom_id_invalid: 400,
  custom_id_may_be_personal: 400,
  body_encoding: 400,
  webhook_signature_invalid: 400,
  unauthorized: 401,
  budget_exceeded: 402,
  max_cost_exceeded: 402,
  forbidden: 403,
  tenant_suspended: 403,
  spending_suspended: 403,
  model_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  conflict: 409,
  job_busy: 409,
  job_not_draft: 409,
  job_not_finished: 409,
  legal_hold: 409,
  idempotency_conflict: 409,
  item_conflict: 409,
  nothing_to_retry: 409,
  request_not_stored: 409,
  nothing_to_process: 409,
  content_deleted: 410,
  content_expired: 410,
  content_lost: 410,
  line_too_long: 413,
  request_too_large: 413,
  job_too_large: 413,
  document_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  document_type_unsupported: 415,
  empty_job: 422,
  model_unknown: 422,
  price_unknown: 422,
  batch_capability_not_supported: 422,
  endpoint_not_supported: 422,
  target_excluded: 422,
  no_credential: 422,
  encryption_not_configured: 422,
  webhook_secret_missing: 422,
  deadline_passed: 422,
  storage_policy_looser: 422,
  retry_not_allowed: 422,
  safety_acknowledgement_required: 422,
  document_empty: 422,
  document_encrypted: 422,
  document_corrupt: 422,
  rate_limited: 429,
  concurrency_limit: 429,
  quota_exceeded: 429,
  headers_too_large: 431,
  internal: 500,
  dependency_unavailable: 503,
} as const satisfies { readonly [code: string]: number };

export type ErrorCode = keyof typeof STATUS_OF;
export const ERROR_CODES = Object.keys(STATUS_OF) as readonly ErrorCode[];

/** One of many findings behind a refusal: a line of a manifest, an item of an append. */
export interface ErrorDetail {
  /** 1-based line of an NDJSON body. */
  readonly line?: number;
  /** 0-based position in the call. */
  readonly index?: number;
  readonly customId?: string;
  readonly field?: string;
  readonly error: ErrorCode;
  readonly message: string;
}

/** The envelope shows this many findings; `detailsCount` is the whole number. */
export const MAX_ERROR_DETAILS = 100;

interface GatewayErrorOptions extends ErrorOptions {
  readonly field?: string;
  readonly details?: readonly ErrorDetail[];
  /** Defaults to the number of details given. */
  readonly detailsCount?: number;
  readonly retryAfterSeconds?: number;
}

/** A refusal the caller is told of: the only error an operation throws on purpose. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  declare readonly field?: string;
  declare readonly details?: readonly ErrorDetail[];
  declare readonly detailsCount?: number;
  declare readonly retryAfterSeconds?: number;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options);
    this.code = code;
    if (options.field !== undefined) this.field = options.field;
    if (options.details !== undefined) {
      this.details = options.details.slice(0, MAX_ERROR_DETAILS);
      this.detailsCount = options.detailsCount ?? options.details.length;
    }
    if (options.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
