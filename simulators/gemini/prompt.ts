import { estimateTokens } from '../reply-text.ts';
import type { ModelTask } from './models.ts';
import { isObject, type JsonObject } from './proto-json.ts';

/**
 * All text a request puts before the model: the system instruction, then the contents in order, joined by line ends.
 * Results of functions and thoughts of earlier answers are not read.
 */
export function promptOf(task: ModelTask, request: JsonObject): string {
  const contents = task === 'embed' ? request['content'] : [request['systemInstruction'], request['contents']];
  return textsOf(contents).join('\n');
}

export function promptTokens(prompt: string): number {
  return estimateTokens(prompt);
}

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (!isObject(value)) return [];
  const { text, thought, parts } = value as { text?: unknown; thought?: unknown; parts?: unknown };
  if (typeof text === 'string') return thought === true ? [] : [text];
  return textsOf(parts);
}
