import type OpenAI from 'openai';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { RawUsage } from '../../domain/usage.ts';
import { toCompletionUsage } from '../completion-usage.ts';
import { sliceElements, sliceMember } from '../json-member.ts';

type FinishReason = OpenAI.ChatCompletion.Choice['finish_reason'];
type ToolCall = OpenAI.ChatCompletionMessageFunctionToolCall;

/** `StopReason` of the @anthropic-ai/sdk types; `pause_turn` belongs to server tools, which no neutral request has. */
const FINISH_OF_STOP: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
]);

/**
 * A Message as a chat completion in OpenAI's shape. `message` is a judged `complete` one, `contentJson` the text of its
 * `content`, from which the arguments of tool calls are taken as the model wrote them.
 *
 * - Text parts are joined in order without a separator; thinking is not shown.
 * - A refusal that has text is `message.refusal`, with `content` null and finish reason `content_filter`.
 * - Tool calls finish as `tool_calls` unless the length or a refusal cut the answer.
 * - A stop reason we do not know is `stop` where there is text; with nothing to show the answer is null, for it may not
 *   be one.
 * - Anthropic does not say when a message was made: `created` is 0.
 */
export function toChatCompletion(
  message: JsonObject,
  contentJson: string,
  usage: RawUsage | null,
): OpenAI.ChatCompletion | null {
  const { text, toolCalls } = readContent(message['content'], contentJson);
  const known = FINISH_OF_STOP.get(message['stop_reason']);
  const isEmpty = text === '' && toolCalls.length === 0;
  if (isEmpty && (known === undefined || known === 'content_filter')) return null;
  const finish = known ?? 'stop';
  const isRefusal = finish === 'content_filter';
  const completionUsage = toCompletionUsage(usage);
  return {
    id: readText(message['id']),
    object: 'chat.completion',
    created: 0,
    model: readText(message['model']),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: isRefusal || (text === '' && toolCalls.length > 0) ? null : text,
          refusal: isRefusal && text !== '' ? text : null,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
        finish_reason: finish === 'stop' && toolCalls.length > 0 ? 'tool_calls' : finish,
        logprobs: null,
      },
    ],
    ...(completionUsage !== null && { usage: completionUsage }),
  };
}

function readContent(content: unknown, contentJson: string): { text: string; toolCalls: ToolCall[] } {
  let text = '';
  const toolCalls: ToolCall[] = [];
  let elements: string[] | undefined;
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    if (!isJsonObject(block)) continue;
    if (block['type'] === 'text') text += readText(block['text']);
    if (block['type'] === 'tool_use') {
      elements ??= sliceElements(contentJson);
      const input = sliceMember(elements[index] ?? '{}', ['input']) ?? '{}';
      const call = { name: readText(block['name']), arguments: input };
      toolCalls.push({ id: readText(block['id']), type: 'function', function: call });
    }
  }
  return { text, toolCalls };
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
