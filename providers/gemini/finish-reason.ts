import type OpenAI from 'openai';

export type FinishReason = OpenAI.ChatCompletion.Choice['finish_reason'];

/** Ends that leave an answer what it is, be it empty: the model had nothing to add, or thinking used up the limit. */
const ENDS: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
]);

/** Ends by which a filter took the rest of the answer, or all of it. */
const FILTERS: ReadonlySet<unknown> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'ESCALATION',
  'PUP_LIMITED_DISABLED',
  'MODEL_ARMOR',
]);

/**
 * `FinishReason` of @google/genai in OpenAI's words. Null for the rest (`OTHER`, `MALFORMED_FUNCTION_CALL`, a reason we do
 * not know, none at all): by those an answer is only as good as what is there of it.
 */
export function mapFinishReason(reason: unknown): FinishReason | null {
  return FILTERS.has(reason) ? 'content_filter' : (ENDS.get(reason) ?? null);
}
