import type { MessageCreateParamsNonStreaming, OutputConfig } from '@anthropic-ai/sdk/resources/messages';
import type { JsonObject } from '../../domain/json-object.ts';
import { refuseUncarried } from './chat-members.ts';
import { translateMessages } from './chat-messages.ts';
import { translateTools } from './chat-tools.ts';
import type { AnthropicApiVersion } from './client.ts';
import { isAbsent, needList, needObject, needText, refuse, refuseOthers } from './json-shape.ts';

type Effort = NonNullable<OutputConfig['effort']>;

/** What version 2026-10-21, and with it the SDK's types, no longer has. */
export type ChatParams = MessageCreateParamsNonStreaming & { temperature?: number; top_p?: number };

export interface ChatTarget {
  model: string;
  /** Anthropic wants a limit: this one where the request has none. */
  defaultMaxOutputTokens: number;
  apiVersion: AnthropicApiVersion;
}

/** OpenAI's words for effort, and the nearest of Anthropic's (@anthropic-ai/sdk, `OutputConfig`). */
const EFFORTS: { readonly [effort: string]: Effort } = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

/**
 * A chat completion body as the body of a Messages request. Everything is carried, or refused with its exact place as an
 * UntranslatableRequest: nothing is dropped. The request's own `model` is replaced by the target's.
 */
export function translateChatRequest(request: JsonObject, target: ChatTarget): ChatParams {
  refuseUncarried(request);
  const { system, messages } = translateMessages(request['messages']);
  const stopSequences = readStopSequences(request['stop']);
  return {
    model: target.model,
    max_tokens: readMaxTokens(request) ?? target.defaultMaxOutputTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...translateTools(request),
    ...translateOutput(request),
    ...readSampling(request, target.apiVersion),
    ...(stopSequences.length > 0 && { stop_sequences: stopSequences }),
    ...readUser(request),
  } satisfies ChatParams;
}

/** The newer name of the same thing wins. */
function readUser({ safety_identifier: identifier, user }: JsonObject): Pick<ChatParams, 'metadata'> {
  if (!isAbsent(identifier)) return { metadata: { user_id: needText(identifier, 'request.safety_identifier') } };
  return isAbsent(user) ? {} : { metadata: { user_id: needText(user, 'request.user') } };
}

/** The two names of one limit; OpenAI takes only one of them at a time. */
function readMaxTokens({ max_completion_tokens: limit, max_tokens: oldLimit }: JsonObject): number | null {
  if (!isAbsent(limit) && !isAbsent(oldLimit) && limit !== oldLimit) {
    refuse('request.max_tokens', 'differs from max_completion_tokens');
  }
  const value = limit ?? oldLimit ?? null;
  if (value === null) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  return refuse(
    isAbsent(limit) ? 'request.max_tokens' : 'request.max_completion_tokens',
    'must be a whole number greater than 0',
  );
}

function readStopSequences(stop: unknown): string[] {
  if (isAbsent(stop)) return [];
  if (typeof stop === 'string') return [stop];
  return needList(stop, 'request.stop').map(({ value, field }) => needText(value, field));
}

function readSampling(
  { temperature, top_p: topP }: JsonObject,
  apiVersion: AnthropicApiVersion,
): { temperature?: number; top_p?: number } {
  const sampling: { temperature?: number; top_p?: number } = {};
  if (!isAbsent(temperature)) sampling.temperature = readShare(temperature, 'request.temperature', apiVersion);
  if (!isAbsent(topP)) sampling.top_p = readShare(topP, 'request.top_p', apiVersion);
  return sampling;
}

/** Anthropic's scale ends at 1, OpenAI's temperature at 2. */
function readShare(value: unknown, field: string, apiVersion: AnthropicApiVersion): number {
  if (apiVersion !== '2023-06-01') refuse(field, `Anthropic's API version ${apiVersion} does not take it`);
  if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  return refuse(field, 'must be a number from 0 to 1 for Anthropic');
}

function translateOutput(request: JsonObject): Pick<ChatParams, 'output_config' | 'thinking'> {
  const { reasoning_effort: effort, response_format: format } = request;
  const schema = isAbsent(format) ? null : readSchema(format);
  const formatConfig: OutputConfig = schema === null ? {} : { format: { type: 'json_schema', schema } };
  if (isAbsent(effort)) return schema === null ? {} : { output_config: formatConfig };
  if (effort === 'none') {
    return { thinking: { type: 'disabled' }, ...(schema !== null && { output_config: formatConfig }) };
  }
  const word = needText(effort, 'request.reasoning_effort');
  const known = Object.hasOwn(EFFORTS, word) ? EFFORTS[word] : undefined;
  if (known === undefined) return refuse('request.reasoning_effort', 'is no effort that Anthropic has');
  return { thinking: { type: 'adaptive' }, output_config: { ...formatConfig, effort: known } };
}

/** A name and a description are hints, and Anthropic keeps to every schema: only the schema itself is carried. */
function readSchema(value: unknown): { [name: string]: unknown } | null {
  const format = needObject(value, 'request.response_format');
  if (format['type'] === 'text') {
    refuseOthers(format, ['type'], 'request.response_format');
    return null;
  }
  if (format['type'] !== 'json_schema') return refuse('request.response_format.type', 'must be text or json_schema');
  refuseOthers(format, ['type', 'json_schema'], 'request.response_format');
  const field = 'request.response_format.json_schema';
  const described = needObject(format['json_schema'], field);
  refuseOthers(described, ['name', 'description', 'strict', 'schema'], field);
  return needObject(described['schema'], `${field}.schema`);
}
