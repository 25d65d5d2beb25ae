import {
  boolean,
  checkedApart,
  choices,
  effort,
  either,
  type FieldRules,
  inspectFields,
  integer,
  list,
  nonEmptyText,
  number,
  object,
  positiveInteger,
  text,
  textList,
  textOrObject,
  wordUnless,
} from './field-rules.ts';
import type { Findings } from './findings.ts';
import { inspectChatMessages } from './inspect-chat-messages.ts';
import { inspectTools } from './inspect-tools.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { estimateJsonTokens } from './json-tokens.ts';
import { FEATURE } from './request-features.ts';

/** OpenAI's chat completion body (openai SDK, `ChatCompletionCreateParams`). */
const RULES: FieldRules = new Map([
  ['messages', checkedApart()],
  ['tools', checkedApart()],
  ['functions', list(FEATURE.TOOLS)],
  ['model', nonEmptyText(FEATURE.MODEL_OVERRIDE)],
  ['stream', boolean(FEATURE.STREAM)],
  ['stream_options', object()],
  ['temperature', number(0, 2, FEATURE.SAMPLING)],
  ['top_p', number(0, 1, FEATURE.SAMPLING)],
  ['frequency_penalty', number(-2, 2, FEATURE.PENALTIES)],
  ['presence_penalty', number(-2, 2, FEATURE.PENALTIES)],
  ['logit_bias', object(FEATURE.PENALTIES)],
  ['max_tokens', positiveInteger()],
  ['max_completion_tokens', positiveInteger()],
  ['n', choices()],
  ['seed', integer(FEATURE.SEED)],
  ['stop', either(text(FEATURE.STOP), textList(FEATURE.STOP), 'must be a string or a list of strings')],
  ['logprobs', boolean(FEATURE.LOGPROBS)],
  ['top_logprobs', number(0, 20, FEATURE.LOGPROBS)],
  ['reasoning_effort', effort()],
  ['verbosity', text()],
  ['response_format', responseFormat],
  ['tool_choice', toolChoice],
  ['function_call', textOrObject()],
  ['parallel_tool_calls', boolean()],
  ['modalities', modalities],
  ['audio', object(FEATURE.MEDIA_OUTPUT)],
  ['prediction', object()],
  ['web_search_options', object(FEATURE.SERVER_TOOLS)],
  ['store', boolean(FEATURE.PROVIDER_STATE)],
  ['service_tier', wordUnless(['auto', 'default'], FEATURE.SERVICE_TIER)],
  ['metadata', object()],
  ['moderation', object()],
  ['user', text()],
  ['safety_identifier', text()],
  ['prompt_cache_key', text()],
  ['prompt_cache_options', object()],
  ['prompt_cache_retention', text()],
]);

export function inspectChat(request: JsonObject, findings: Findings): void {
  inspectFields(request, RULES, 'request', findings);
  inspectChatMessages(request['messages'], findings);
  inspectTools(request['tools'], 'request.tools', isOwnTool, findings);
  for (const name of ['response_format', 'functions', 'prediction']) {
    if (request[name] !== undefined && request[name] !== null) findings.tokens(estimateJsonTokens(request[name]));
  }
}

function isOwnTool(tool: JsonObject): boolean {
  return tool['type'] === 'function' || tool['type'] === 'custom';
}

function responseFormat(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  if (typeof value['type'] !== 'string') return 'must have a type of text, json_object or json_schema';
  return value['type'] === 'text' ? 0 : FEATURE.STRUCTURED_OUTPUT;
}

function toolChoice(value: unknown): number | string {
  if (isJsonObject(value)) return FEATURE.FORCED_TOOL;
  if (value === 'auto' || value === 'none') return 0;
  return value === 'required' ? FEATURE.FORCED_TOOL : 'must be none, auto, required or an object';
}

function modalities(value: unknown): number | string {
  if (!Array.isArray(value)) return 'must be a list';
  return value.some((modality) => modality !== 'text') ? FEATURE.MEDIA_OUTPUT : 0;
}
