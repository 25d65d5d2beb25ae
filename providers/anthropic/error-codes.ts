/*
 * Anthropic's own words for what went wrong, by what they mean to us: the types of its API errors page, the codes in
 * `details.error_code` of the @anthropic-ai/sdk types, and, where neither tells, messages seen in public issue threads.
 */

export interface ErrorWords {
  type: string | null;
  /** `details.error_code`. */
  code: string | null;
  message: string | null;
}

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
  | 'invalid';

const MEANING_OF_TYPE: ReadonlyMap<string, ErrorMeaning> = new Map([
  ['billing_error', 'account'],
  ['authentication_error', 'credential'],
  ['permission_error', 'credential'],
  ['rate_limit_error', 'rate'],
  ['overloaded_error', 'overloaded'],
  ['api_error', 'server'],
  ['conflict_error', 'server'],
  ['timeout_error', 'timeout'],
  ['not_found_error', 'invalid'],
  ['request_too_large', 'invalid'],
  ['invalid_request_error', 'invalid'],
]);

/** Somebody has to act at Anthropic before any request of this account runs again. */
const CREDENTIAL_CODES = new Set([
  'organization_on_hold',
  'claude_code_key_creator_not_member',
  'cmek_key_disabled',
  'cmek_key_network_blocked',
]);
/** `enforced_`, `contract_` and `linked_organization_spend_limit_reached`: 429 and 402 that no waiting helps. */
const SPEND_CODE = /spend_limit|billing_unavailable/;

/** All of them come as the coarse `invalid_request_error`. */
const MEANING_OF_MESSAGE: readonly (readonly [RegExp, ErrorMeaning])[] = [
  [/credit balance is too low|usage limits?\b/i, 'account'],
  [/organization has been disabled/i, 'credential'],
  [/content filtering policy/i, 'safety'],
  [/prompt is too long|exceed\w* context (limit|window)|context window/i, 'context'],
];

/** What an error's words say, null where we know none of them. */
export function findMeaning({ type, code, message }: ErrorWords): ErrorMeaning | null {
  if (code !== null && SPEND_CODE.test(code)) return 'account';
  if (code !== null && CREDENTIAL_CODES.has(code)) return 'credential';
  // An unknown model is told from an unknown batch or file by the message alone, `model: claude-x`.
  if (type === 'not_found_error' && /^model:/i.test(message ?? '')) return 'model';
  if (type === 'invalid_request_error' || type === null) {
    for (const [words, meaning] of MEANING_OF_MESSAGE) {
      if (words.test(message ?? '')) return meaning;
    }
  }
  return type === null ? null : (MEANING_OF_TYPE.get(type) ?? null);
}
