import { isJsonObject, type JsonObject } from './json-object.ts';

/** What a neutral chat completion says. */
export interface CompletionReply {
  readonly text: string;
  readonly model: string | null;
  readonly finishReason: string | null;
  /** The model refuses to answer, or what it answered was taken away for safety's sake. */
  readonly isRefused: boolean;
}

/** The first choice of a neutral chat completion, as JSON text; null for what is no object. */
export function readCompletion(completion: string): CompletionReply | null {
  const body = parseObject(completion);
  if (body === null) return null;
  const choices = Array.isArray(body['choices']) ? body['choices'] : [];
  const choice = isJsonObject(choices[0]) ? choices[0] : {};
  const message = isJsonObject(choice['message']) ? choice['message'] : {};
  const [content, refusal] = [textOrNull(message['content']), textOrNull(message['refusal'])];
  const finishReason = textOrNull(choice['finish_reason']);
  return {
    text: content ?? refusal ?? '',
    model: textOrNull(body['model']),
    finishReason,
    isRefused: (refusal ?? '') !== '' || finishReason === 'content_filter',
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function parseObject(text: string): JsonObject | null {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : null;
}
