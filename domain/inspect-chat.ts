import { hasOnly } from './chat-members.ts';
import {
  boolean,
  checkedApart,
  choices,
  either,
  type FieldRules,
  inspectFields,
  integer,
  list,
  nonEmptyText,
  number,
  object,
  positiveInteger,
  specific,
  text,
  textList,
  textOrObject,
  unlessEmpty,
  wordUnless,
} from './field-rules.ts';
import type { Findings } from './findings.ts';
import { inspectChatMessages } from './inspect-chat-messages.ts';
import { inspectChatTool, toolChoice } from './inspect-chat-tools.ts';
import { inspectTools } from './inspect-tools.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

/** OpenAI's chat completion body (openai SDK, `ChatCompletionCreateParams`): the neutral request. */
const RULES: FieldRules = new Map([
  ['messages', checkedApart()],
  ['tools', checkedApart()],
  ['functions', unlessEmpty(specific(list(FEATURE.TOOLS)))],
  ['model', nonEmptyText()],
  ['stream', boolean(FEATURE.STREAM)],
  ['stream_options', specific(object())],
  ['temperature', temperature],
  ['top_p', number(0, 1, FEATURE.SAMPLING)],
  ['frequency_penalty', number(-2, 2, FEATURE.WIDE_SAMPLING)],
  ['presence_penalty', number(-2, 2, FEATURE.WIDE_SAMPLING)],
  ['logit_bias', unlessEmpty(specific(object()))],
  ['max_tokens', positiveInteger()],
  ['max_completion_tokens', positiveInteger()],
  ['n', choices()],
  ['seed', integer(FEATURE.SEED)],
  ['stop', either(text(), textList(), 'must be a string or a list of strings')],
  ['logprobs', boolean(FEATURE.LOGPROBS)],
  ['top_logprobs', number(0, 20, FEATURE.LOGPROBS)],
  ['reasoning_effort', effort],
  ['verbosity', specific(text())],
  ['response_format', responseFormat],
  ['tool_choice', toolChoice],
  ['function_call', specific(textOrObject())],
  ['parallel_tool_calls', parallelToolCalls],
  ['modalities', modalities],
  ['audio', object(FEATURE.MEDIA_OUTPUT)],
  ['prediction', specific(object())],
  ['web_search_options', object(FEATURE.SERVER_TOOLS)],
  ['store', boolean(FEATURE.PROVIDER_STATE)],
  ['service_tier', wordUnless(['auto', 'default'], FEATURE.SERVICE_TIER)],
  ['metadata', unlessEmpty(specific(object()))],
  ['moderation', specific(object())],
  ['user', text(FEATURE.END_USER)],
  ['safety_identifier', text(FEATURE.END_USER)],
  ['prompt_cache_key', specific(text())],
  ['prompt_cache_options', specific(object())],
  ['prompt_cache_retention', specific(text())],
]);

/** The efforts that have their like at every provider. */
const SHARED_EFFORTS: readonly string[] = ['minimal', 'low', 'medium', 'high', 'xhigh'];
const SCHEMA_MEMBERS: readonly string[] = ['name', 'description', 'schema', 'strict'];

export function inspectChat(request: JsonObject, findings: Findings): void {
  inspectFields(request, RULES, 'request', findings);
  inspectChatMessages(request['messages'], findings);
  inspectTools(request['tools'], 'request.tools', inspectChatTool, findings);
  inspectContradictions(request, findings);
  for (const name of ['response_format', 'functions', 'prediction']) {
    if (request[name] !== undefined && request[name] !== null) findings.json(request[name]);
  }
}

/** Members that do not go together: OpenAI's to judge, and without a meaning elsewhere. */
function inspectContradictions(request: JsonObject, findings: Findings): void {
  const limit = request['max_completion_tokens'] ?? null;
  if (limit !== null && limit !== (request['max_tokens'] ?? limit)) {
    findings.feature(FEATURE.PROVIDER_SPECIFIC, 'request', 'max_tokens');
  }
  const isForcedWithout = (findings.features & (FEATURE.FORCED_TOOL | FEATURE.TOOLS)) === FEATURE.FORCED_TOOL;
  if (isForcedWithout) findings.feature(FEATURE.PROVIDER_SPECIFIC, 'request', 'tool_choice');
}

const anyTemperature = number(0, 2, FEATURE.SAMPLING);

function temperature(value: unknown): number | string {
  const verdict = anyTemperature(value);
  return typeof verdict === 'number' && (value as number) > 1 ? verdict | FEATURE.WIDE_SAMPLING : verdict;
}

function effort(value: unknown): number | string {
  if (typeof value !== 'string') return 'must be a string';
  if (value === 'none') return FEATURE.REASONING_OFF;
  return SHARED_EFFORTS.includes(value) ? FEATURE.REASONING : FEATURE.REASONING | FEATURE.PROVIDER_SPECIFIC;
}

function parallelToolCalls(value: unknown): number | string {
  if (typeof value !== 'boolean') return 'must be true or false';
  return value ? 0 : FEATURE.TOOL_RULES;
}

function responseFormat(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  const { type } = value;
  if (typeof type !== 'string') return 'must have a type of text, json_object or json_schema';
  const unknown = hasOnly(value, type === 'json_schema' ? ['type', type] : ['type']) ? 0 : FEATURE.UNKNOWN_FIELD;
  if (type === 'text') return unknown;
  if (type === 'json_object') return FEATURE.JSON_MODE | unknown;
  const schema = type === 'json_schema' ? schemaFeatures(value) : FEATURE.PROVIDER_SPECIFIC;
  return FEATURE.STRUCTURED_OUTPUT | unknown | schema;
}

/** OpenAI does without a schema; nobody else can. */
function schemaFeatures(format: JsonObject): number {
  const wanted = findObject(format, 'json_schema');
  if (wanted === null || findObject(wanted, 'schema') === null) return FEATURE.PROVIDER_SPECIFIC;
  return hasOnly(wanted, SCHEMA_MEMBERS) ? 0 : FEATURE.UNKNOWN_FIELD;
}

function modalities(value: unknown): number | string {
  if (!Array.isArray(value)) return 'must be a list';
  return value.some((modality) => modality !== 'text') ? FEATURE.MEDIA_OUTPUT : 0;
}
