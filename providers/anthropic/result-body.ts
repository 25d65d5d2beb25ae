import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';

/**
 * - `complete`: a Message that has an answer, or ended without one for a reason it names.
 * - `blocked`: refused with nothing left to show.
 * - `malformed`: empty or incomplete.
 */
export type BodyVerdict = 'complete' | 'blocked' | 'malformed';

/**
 * Reasons that end a Message which may well be empty: the model had nothing to add, or all of the limit went into
 * thinking (Anthropic docs, "Handling stop reasons"). Both are billed, and answers.
 */
const ENDS_EMPTY: readonly unknown[] = ['end_turn', 'stop_sequence', 'max_tokens', 'model_context_window_exceeded'];

/** What the message of a succeeded request is (@anthropic-ai/sdk, `Message`). */
export function judgeMessage(message: JsonObject): BodyVerdict {
  const content = message['content'];
  if (!Array.isArray(content) || !content.every(isBlock)) return 'malformed';
  if (content.some(isAnswer)) return 'complete';
  if (message['stop_reason'] === 'refusal') return 'blocked';
  return ENDS_EMPTY.includes(message['stop_reason']) ? 'complete' : 'malformed';
}

function isBlock(block: unknown): boolean {
  if (!isJsonObject(block) || typeof block['type'] !== 'string') return false;
  if (block['type'] === 'text') return typeof block['text'] === 'string';
  return block['type'] !== 'tool_use' || (typeof block['id'] === 'string' && typeof block['name'] === 'string');
}

/** Thinking alone is no answer. */
function isAnswer({ type, text }: JsonObject): boolean {
  if (type === 'text') return text !== '';
  return type !== 'thinking' && type !== 'redacted_thinking';
}
