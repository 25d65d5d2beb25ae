import type { ErrorCode } from './gateway-error.ts';

const MAX_CUSTOM_ID_CODE_POINTS = 512;

type CustomIdError = Extract<ErrorCode, 'custom_id_missing' | 'custom_id_invalid' | 'custom_id_may_be_personal'>;

export type CustomIdVerdict =
  | { readonly ok: true; readonly customId: string }
  | { readonly ok: false; readonly error: CustomIdError; readonly message: string };

const CONTROL = /\p{Cc}/u;
const WRITTEN_AT_SIGN = /＠|%40/gi;
const EMAIL_SHAPE = /[^\s@]@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}/u;

/**
 * Checks a caller's id for an item, which is kept exactly as given: a string of 1–512 code points, well-formed, without
 * control characters, not only white space, and (unless allowed) with nothing shaped like an e-mail address in it.
 */
export function validateCustomId(
  value: unknown,
  { allowEmailLike }: { readonly allowEmailLike: boolean },
): CustomIdVerdict {
  if (value === undefined || value === null) return refuse('custom_id_missing', 'is required');
  if (typeof value !== 'string') return refuse('custom_id_invalid', 'must be a string');
  if (!value.isWellFormed()) return refuse('custom_id_invalid', 'must not contain half of a surrogate pair');
  if (CONTROL.test(value)) return refuse('custom_id_invalid', 'must not contain control characters');
  if (value.trim() === '') return refuse('custom_id_invalid', 'must not be empty or only white space');
  if (value.length > MAX_CUSTOM_ID_CODE_POINTS && [...value].length > MAX_CUSTOM_ID_CODE_POINTS) {
    return refuse('custom_id_invalid', `must be at most ${MAX_CUSTOM_ID_CODE_POINTS} characters`);
  }
  if (!allowEmailLike && EMAIL_SHAPE.test(value.replace(WRITTEN_AT_SIGN, '@'))) {
    return refuse('custom_id_may_be_personal', 'looks like it holds an e-mail address; use an id of your own making');
  }
  return { ok: true, customId: value };
}

function refuse(error: CustomIdError, message: string): CustomIdVerdict {
  return { ok: false, error, message: `custom_id ${message}` };
}
