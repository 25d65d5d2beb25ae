import { type Answer, type AnswerUsage, answerTo, chooseTool, replyId, type Tool } from '../answer.ts';
import { estimateTokens } from '../reply-text.ts';
import type { Item } from './item.ts';
import { asParams, type Params, schemaOf } from './prompt.ts';

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
} as const satisfies Record<Answer['stop'], string>;

/** The reply to an item that has no error (@anthropic-ai/sdk types); ids are the same for the same `idSeed`. */
export function messageOf(item: Item, idSeed: string) {
  const answer = answerItem(item);
  const stop = stopSequenceIn(answer, item.params);
  const { usage } = item.directives;
  return {
    id: replyId('msg_', idSeed),
    type: 'message',
    role: 'assistant',
    model: item.params['model'],
    content: [...thinkingBlock(answer, idSeed), ...contentBlock(answer, stop.text, idSeed)],
    container: null,
    diagnostics: null,
    stop_reason: stop.sequence === null ? STOP_REASONS[answer.stop] : 'stop_sequence',
    stop_sequence: stop.sequence,
    stop_details: answer.stop === 'content_filter' ? REFUSED : null,
    ...(usage === 'none' ? {} : { usage: usage === 'alien' ? ALIEN_USAGE : usageOf(item, answer.usage, stop) }),
  };
}

const REFUSED = { type: 'refusal', category: 'general_harms', explanation: 'The request was refused.' };
const ALIEN_USAGE = { units_read: 12, units_written: 34 };

function answerItem({ params, prompt, material, directives }: Item): Answer {
  return answerTo({
    prompt,
    material,
    directives,
    inputTokens: estimateTokens(prompt),
    maxOutputTokens: Number(params['max_tokens']),
    schema: schemaOf(params),
    tool: chooseTool(toolsOf(params), choiceOf(params), directives),
  });
}

/** Tools the caller runs; those Anthropic runs have no schema and are never called. */
function toolsOf({ tools }: Params): Tool[] {
  if (!Array.isArray(tools)) return [];
  return tools.map(asParams).flatMap(({ name, input_schema: parameters }) => {
    return typeof name === 'string' && parameters !== undefined ? [{ name, parameters }] : [];
  });
}

function choiceOf({ tool_choice: choice }: Params): { mustCall: boolean; name?: string | undefined } {
  const { type, name } = asParams(choice);
  if (type === 'tool' && typeof name === 'string') return { mustCall: true, name };
  return { mustCall: type === 'any' };
}

interface Stopped {
  text: string;
  /** The sequence the text was cut at. */
  sequence: string | null;
}

function stopSequenceIn({ text }: Answer, { stop_sequences: sequences }: Params): Stopped {
  const found = (Array.isArray(sequences) ? sequences.map(String) : [])
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)[0];
  return found === undefined ? { text, sequence: null } : { text: text.slice(0, found.at), sequence: found.sequence };
}

function thinkingBlock({ usage, stop }: Answer, idSeed: string) {
  if (usage.reasoning === 0 || stop === 'content_filter') return [];
  return [{ type: 'thinking', thinking: 'Weighing the question.', signature: replyId('sig_', idSeed) }];
}

function contentBlock({ toolCall, stop }: Answer, text: string, idSeed: string) {
  if (stop === 'content_filter') return [];
  // No text is no block: the API sends none that are empty.
  if (toolCall === undefined) return text === '' ? [] : [{ type: 'text', text, citations: null }];
  const { name, arguments: input } = toolCall;
  return [{ type: 'tool_use', id: replyId('toolu_', idSeed), name, input, caller: { type: 'direct' } }];
}

/** Input without what the cache took; the cache counts are null for a request it had no part in. */
function usageOf({ params, directives, isBatch }: Item, usage: AnswerUsage, stop: Stopped) {
  const { input, cached, cacheWrite, reasoning } = usage;
  const isCounted = typeof directives.usage !== 'object' && stop.sequence !== null;
  const isCaching = cached > 0 || cacheWrite > 0;
  return {
    input_tokens: Math.max(input - cached - cacheWrite, 0),
    cache_creation_input_tokens: isCaching ? cacheWrite : null,
    cache_read_input_tokens: isCaching ? cached : null,
    cache_creation: isCaching ? cacheSplit(params, cacheWrite) : null,
    output_tokens: isCounted ? estimateTokens(stop.text) : usage.output,
    output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
    server_tool_use: null,
    service_tier: isBatch ? 'batch' : 'standard',
    inference_geo: params['inference_geo'] ?? 'global',
    speed: null,
  };
}

/** Everything is written for an hour when any mark in the request asks for that, else for five minutes. */
function cacheSplit(params: Params, written: number) {
  const isLong = JSON.stringify(params).includes('"ttl":"1h"');
  return { ephemeral_5m_input_tokens: isLong ? 0 : written, ephemeral_1h_input_tokens: isLong ? written : 0 };
}
