import type OpenAI from 'openai';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { RawUsage } from '../../domain/usage.ts';
import { toCompletionUsage } from '../completion-usage.ts';
import { sliceElements, sliceMember } from '../json-member.ts';
import { mapFinishReason } from './finish-reason.ts';
import { readParts } from './result-body.ts';

type Choice = OpenAI.ChatCompletion.Choice;
type ToolCall = OpenAI.ChatCompletionMessageFunctionToolCall;

interface Reply {
  /** The item's id, where the response has none of its own. */
  key: string;
  response: JsonObject;
  /** The text of `candidates`, from which the arguments of function calls are taken as the model wrote them. */
  candidatesJson: string;
  usage: RawUsage | null;
}

/**
 * A response judged `complete` as a chat completion in OpenAI's shape, with a choice for each candidate.
 *
 * - Text parts are joined in order without a separator; thinking and parts of other kinds are not shown.
 * - Function calls finish as `tool_calls` unless the length or a filter cut the answer.
 * - What a filter left of an answer is its content, with finish reason `content_filter`: Gemini has no refusals.
 * - A finish reason we do not know is `stop`.
 * - A call without an id gets one by its place.
 * - `created` is 0 where Gemini does not say when the response was made.
 */
export function toChatCompletion({ key, response, candidatesJson, usage }: Reply): OpenAI.ChatCompletion {
  const candidates = Array.isArray(response['candidates']) ? response['candidates'] : [];
  let elements: string[] | undefined;
  const jsonOf = (position: number): string => {
    elements ??= sliceElements(candidatesJson);
    return elements[position] ?? '{}';
  };
  const choices = candidates.flatMap((candidate, position) =>
    isJsonObject(candidate) ? [toChoice(candidate, position, () => jsonOf(position))] : [],
  );
  const completionUsage = toCompletionUsage(usage);
  return {
    id: readText(response['responseId']) || key,
    object: 'chat.completion',
    created: readSeconds(response['createTime']),
    model: readText(response['modelVersion']),
    choices,
    ...(completionUsage !== null && { usage: completionUsage }),
  };
}

function toChoice(candidate: JsonObject, position: number, readJson: () => string): Choice {
  const shown = readParts(candidate).filter(({ thought }) => thought !== true);
  const content = shown.map(({ text }) => readText(text)).join('');
  const calls = shown.some(({ functionCall }) => isJsonObject(functionCall)) ? readCalls(readJson(), position) : [];
  const finish = mapFinishReason(candidate['finishReason']) ?? 'stop';
  return {
    index: position,
    message: {
      role: 'assistant',
      content: content === '' && calls.length > 0 ? null : content,
      refusal: null,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    finish_reason: finish === 'stop' && calls.length > 0 ? 'tool_calls' : finish,
    logprobs: null,
  };
}

function readCalls(candidateJson: string, position: number): ToolCall[] {
  const parts = sliceElements(sliceMember(candidateJson, ['content', 'parts']) ?? '[]');
  return parts.flatMap((json, place) => {
    const part: unknown = JSON.parse(json);
    const call = isJsonObject(part) && part['thought'] !== true ? part['functionCall'] : null;
    if (!isJsonObject(part) || !isJsonObject(call)) return [];
    const args = isJsonObject(call['args']) ? sliceMember(json, ['functionCall', 'args']) : null;
    const id = readText(call['id']) || `call_${position}_${place}`;
    const called = { name: readText(call['name']), arguments: args ?? '{}' };
    return [{ id, type: 'function' as const, function: called }];
  });
}

function readSeconds(time: unknown): number {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
