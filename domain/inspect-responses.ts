import {
  boolean,
  checkedApart,
  type FieldRules,
  inspectFields,
  list,
  nonEmptyText,
  number,
  object,
  positiveInteger,
  text,
  textOrObject,
  wordUnless,
} from './field-rules.ts';
import type { Findings } from './findings.ts';
import { MESSAGE_TOKENS, REQUEST_TOKENS, UNSEEN_INPUT_TOKENS } from './inspect-chat-messages.ts';
import { inspectResponseContent } from './inspect-response-content.ts';
import { inspectTools } from './inspect-tools.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

/** OpenAI's response body (openai SDK, `ResponseCreateParams`). */
const RULES: FieldRules = new Map([
  ['input', checkedApart()],
  ['tools', checkedApart()],
  ['instructions', text()],
  ['model', nonEmptyText()],
  ['stream', boolean(FEATURE.STREAM)],
  ['stream_options', object()],
  ['temperature', number(0, 2, FEATURE.SAMPLING)],
  ['top_p', number(0, 1, FEATURE.SAMPLING)],
  ['max_output_tokens', positiveInteger()],
  ['max_tool_calls', positiveInteger()],
  ['top_logprobs', number(0, 20, FEATURE.LOGPROBS)],
  ['reasoning', reasoning],
  ['text', textFormat],
  ['tool_choice', toolChoice],
  ['parallel_tool_calls', boolean()],
  ['previous_response_id', text(FEATURE.PROVIDER_STATE)],
  ['conversation', textOrObject(FEATURE.PROVIDER_STATE)],
  ['prompt', object(FEATURE.PROVIDER_STATE)],
  ['background', boolean(FEATURE.PROVIDER_STATE)],
  ['store', boolean()],
  ['include', list()],
  ['context_management', list()],
  ['truncation', text()],
  ['service_tier', wordUnless(['auto', 'default'], FEATURE.SERVICE_TIER)],
  ['metadata', object()],
  ['moderation', object()],
  ['user', text(FEATURE.END_USER)],
  ['safety_identifier', text(FEATURE.END_USER)],
  ['prompt_cache_key', text()],
  ['prompt_cache_options', object()],
  ['prompt_cache_retention', text()],
]);

export function inspectResponses(request: JsonObject, findings: Findings): void {
  inspectFields(request, RULES, 'request', findings);
  findings.tokens(REQUEST_TOKENS);
  if (typeof request['instructions'] === 'string') findings.text(request['instructions']);
  if ((findings.features & FEATURE.PROVIDER_STATE) !== 0) findings.tokens(UNSEEN_INPUT_TOKENS);
  inspectInput(request, findings);
  inspectTools(request['tools'], 'request.tools', inspectTool, findings);
  if (isJsonObject(request['text'])) findings.json(request['text']);
}

/** Input may be left out only where the provider holds a prompt or a conversation. */
function inspectInput(request: JsonObject, findings: Findings): void {
  const input = request['input'];
  if (typeof input === 'string') {
    findings.tokens(MESSAGE_TOKENS);
    findings.text(input);
    return;
  }
  if (Array.isArray(input) && input.length > 0) {
    for (const [index, item] of input.entries()) inspectItem(item, `request.input[${index}]`, findings);
    return;
  }
  const isHeldByProvider = (request['prompt'] ?? request['previous_response_id'] ?? request['conversation']) != null;
  if (!isHeldByProvider || (input ?? null) !== null) {
    findings.problem('request.input', 'must be a string or a non-empty list of input items');
  }
}

/** Messages are read part by part; calls, their outputs and what else an earlier reply held count as their text. */
function inspectItem(item: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(item)) {
    findings.problem(path, 'must be an object');
    return;
  }
  const type = item['type'] ?? 'message';
  if (typeof type !== 'string') {
    findings.problem(`${path}.type`, 'must be a string');
    return;
  }
  findings.tokens(MESSAGE_TOKENS);
  if (type === 'item_reference') {
    findings.feature(FEATURE.PROVIDER_STATE, path);
    return;
  }
  if (type !== 'message') {
    findings.json(item);
    return;
  }
  if (!['user', 'assistant', 'system', 'developer'].includes(item['role'] as string)) {
    findings.problem(`${path}.role`, 'must be user, assistant, system or developer');
  }
  inspectResponseContent(item['content'], `${path}.content`, findings);
}

function inspectTool(tool: JsonObject, path: string, findings: Findings): void {
  const { type } = tool;
  if (type !== 'function' && type !== 'custom') findings.feature(FEATURE.SERVER_TOOLS, path, 'type');
}

function reasoning(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  const effort = value['effort'] ?? null;
  if (effort === null) return 0;
  if (typeof effort !== 'string') return 'must have an effort that is a string';
  return effort === 'none' ? FEATURE.REASONING_OFF : FEATURE.REASONING;
}

function textFormat(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  const type = findObject(value, 'format')?.['type'] ?? 'text';
  if (type === 'text') return 0;
  return type === 'json_object' ? FEATURE.JSON_MODE : FEATURE.STRUCTURED_OUTPUT;
}

function toolChoice(value: unknown): number | string {
  if (isJsonObject(value)) return FEATURE.FORCED_TOOL;
  if (value === 'auto' || value === 'none') return 0;
  return value === 'required' ? FEATURE.FORCED_TOOL : 'must be none, auto, required or an object';
}
