/*
 * OpenAI's own words for what went wrong, by what they mean to us. Not a published list: OpenAI's guide to error codes,
 * the openai SDK's types (`ResponseError.code`), and codes seen in public issue threads. A word may stand in `type` or in
 * `code`.
 */

/** The account may not spend: no retry helps before somebody pays or raises a limit. */
const ACCOUNT = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'credit_balance_exhausted',
  'organization_spend_limit_exceeded',
  'project_spend_limit_exceeded',
  'organization_usage_limit_exceeded',
]);
const CREDENTIAL = new Set([
  'invalid_api_key',
  'account_deactivated',
  'invalid_organization',
  'missing_scope',
  'permission_error',
  'authentication_error',
]);
const SAFETY = new Set([
  'content_policy_violation',
  'content_filter',
  'content_blocked',
  'moderation_blocked',
  'safety_violation',
  'cyber_policy_violation',
  'bio_policy',
  'image_content_policy_violation',
  'responsible_ai_policy_violation',
]);
const RATE = new Set(['rate_limit_exceeded', 'rate_limit_error', 'rate_limited', 'too_many_requests', 'slow_down']);
const OVERLOADED = new Set(['server_is_overloaded', 'engine_overloaded', 'overloaded_error']);
const SERVER = new Set(['server_error', 'internal_error', 'internal_server_error', 'api_error']);
const MODEL = new Set(['model_not_found', 'model_not_available', 'unsupported_model']);
const CONTEXT = new Set(['context_length_exceeded']);
const TIMEOUT = new Set(['timeout', 'request_timeout', 'vector_store_timeout']);
const INVALID = new Set([
  'invalid_request_error',
  'invalid_prompt',
  'data_residency_mismatch',
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'invalid_image_mode',
  'image_file_too_large',
  'unsupported_image_media_type',
  'empty_image_file',
  'failed_to_download_image',
  'image_file_not_found',
]);
/** The model's quota of enqueued tokens is full; frees up as running batches finish. */
const QUEUE = new Set(['token_limit_exceeded']);

export type ErrorMeaning =
  | 'account'
  | 'credential'
  | 'safety'
  | 'rate'
  | 'overloaded'
  | 'server'
  | 'model'
  | 'context'
  | 'timeout'
  | 'invalid'
  | 'file'
  | 'queue';

/** The first that fits counts: `type` is often the coarse `invalid_request_error` beside a telling `code`. */
const MEANINGS: readonly (readonly [ErrorMeaning, ReadonlySet<string>])[] = [
  ['account', ACCOUNT],
  ['safety', SAFETY],
  ['queue', QUEUE],
  ['model', MODEL],
  ['context', CONTEXT],
  ['credential', CREDENTIAL],
  ['timeout', TIMEOUT],
  ['rate', RATE],
  ['overloaded', OVERLOADED],
  ['server', SERVER],
  ['invalid', INVALID],
];

/** What an error's words say, null where we know none of them. */
export function findMeaning(words: {
  type: string | null;
  code: string | null;
  message: string | null;
}): ErrorMeaning | null {
  const { type, code, message } = words;
  // Reasoning models refuse with `invalid_prompt`, and only the message says that the usage policy was the reason.
  if (code === 'invalid_prompt' && /usage polic|flagged/i.test(message ?? '')) return 'safety';
  // An input file that is gone, or not yet known to the node that answers: said with 400 as well as with 404.
  if (code === 'invalid_input_file' || /^no such file/i.test(message ?? '')) return 'file';
  // Seen without a code of its own, both when creating and among a failed batch's errors.
  if (/enqueued token limit/i.test(message ?? '')) return 'queue';
  for (const [meaning, known] of MEANINGS) {
    if ((code !== null && known.has(code)) || (type !== null && known.has(type))) return meaning;
  }
  return null;
}
