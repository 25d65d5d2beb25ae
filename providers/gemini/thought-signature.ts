/*
 * Models from Gemini 3 on sign their function calls, and refuse a conversation in which a call comes back unsigned. A chat
 * completion has no member for a signature, so calls come back without.
 */

/** Stands in for the signature of a call that was made elsewhere (Gemini API docs, "Thought signatures"). */
const PLACEHOLDER = 'skip_thought_signature_validator';
const SIGNS_CALLS = /^(?:models\/)?gemini-(?:[3-9]|[1-9][0-9])(?:[.-]|$)/;

/** What the first of the calls made at once is signed with, null for a model that wants no signature. */
export function placeholderFor(model: string): string | null {
  return SIGNS_CALLS.test(model) ? PLACEHOLDER : null;
}
