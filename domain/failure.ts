/** How an item can fail, coarsely: what may be done about it depends on this alone, but for the codes below. */
export const FAILURE_CLASSES = [
  'provider_error',
  'rate_limited',
  'missing_result',
  'unparseable_result',
  'expired',
  'cancelled',
  'validation',
  'safety_blocked',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/**
 * - `automatic`: by waves inside the job under its retry policy, and by hand.
 * - `by_hand`: in a new job, when someone asks.
 * - `corrected_only`: the same request would fail again.
 * - `never_blindly`: only by explicit ids and an acknowledgement.
 */
export type RetryRule = 'automatic' | 'by_hand' | 'corrected_only' | 'never_blindly';

const RULE_OF_CLASS: { readonly [failureClass in FailureClass]: RetryRule } = {
  provider_error: 'automatic',
  rate_limited: 'automatic',
  missing_result: 'automatic',
  unparseable_result: 'automatic',
  expired: 'by_hand',
  cancelled: 'by_hand',
  validation: 'corrected_only',
  safety_blocked: 'never_blindly',
};

/** The gateway's own codes for item failures, each in its class. */
const CLASS_OF_CODE = {
  provider_server_error: 'provider_error',
  provider_overloaded: 'provider_error',
  provider_timeout: 'provider_error',
  /** No connection, or one that broke: of a request that is sent by itself. */
  provider_unreachable: 'provider_error',
  /** Workers died over a request that is sent by itself, as often as it is tried. */
  worker_lost: 'provider_error',
  /** A line that failed and says nothing of why, such as status 0 with an empty body. */
  no_provider_detail: 'provider_error',
  unknown_provider_error: 'provider_error',
  provider_account_exhausted: 'provider_error',
  provider_credential_rejected: 'provider_error',
  provider_lost: 'provider_error',
  given_up: 'provider_error',
  rate_limited: 'rate_limited',
  /** The provider's queue stayed full for as long as the gateway retries. */
  provider_queue_full: 'rate_limited',
  missing_result: 'missing_result',
  /** Answers came without an id, so none can be given to this item. */
  unmatched_result: 'missing_result',
  malformed_result: 'unparseable_result',
  batch_expired: 'expired',
  deadline: 'expired',
  job_cancelled: 'cancelled',
  provider_cancelled: 'cancelled',
  invalid_request: 'validation',
  context_too_long: 'validation',
  model_unavailable: 'validation',
  provider_rejected: 'validation',
  safety_blocked: 'safety_blocked',
} as const satisfies { readonly [code: string]: FailureClass };

export type FailureCode = keyof typeof CLASS_OF_CODE;
export const FAILURE_CODES = Object.keys(CLASS_OF_CODE) as readonly FailureCode[];

/** Codes that hit whole batches at once; a job whose items all failed by one of them shows it as its error. */
export const JOB_WIDE_FAILURE_CODES = [
  'provider_rejected',
  'provider_lost',
  'provider_credential_rejected',
  'provider_account_exhausted',
  'provider_queue_full',
  'given_up',
] as const satisfies readonly FailureCode[];

/** A wave would meet the same closed door, or a batch that may yet be running: someone has to act first. */
const BY_HAND_CODES: readonly FailureCode[] = [
  'provider_account_exhausted',
  'provider_credential_rejected',
  'provider_lost',
  'provider_queue_full',
  'given_up',
];

export interface Failure {
  readonly class: FailureClass;
  readonly code: FailureCode;
  /** Ours, safe to show to the tenant. */
  readonly message: string;
  /** The provider's own type and text: for operators, and for tenants only where their policy says so. */
  readonly providerType: string | null;
  readonly providerMessage: string | null;
}

export function failureClassOf(code: FailureCode): FailureClass {
  return CLASS_OF_CODE[code];
}

export function retryRule(failureClass: FailureClass): RetryRule {
  return RULE_OF_CLASS[failureClass];
}

/** The rule of one failed item: its class's, unless its code needs a person first. */
export function retryRuleOfCode(code: FailureCode): RetryRule {
  return BY_HAND_CODES.includes(code) ? 'by_hand' : retryRule(CLASS_OF_CODE[code]);
}

/** A failure with its class filled in from the code. */
export function failure(
  code: FailureCode,
  message: string,
  provider: { readonly type?: string | null; readonly message?: string | null } = {},
): Failure {
  return {
    class: CLASS_OF_CODE[code],
    code,
    message,
    providerType: provider.type ?? null,
    providerMessage: provider.message ?? null,
  };
}
