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
  textList,
  textOrObject,
  wordUnless,
} from './field-rules.ts';
import type { Findings } from './findings.ts';
import { MESSAGE_TOKENS, REQUEST_TOKENS, UNSEEN_INPUT_TOKENS } from './inspect-chat-messages.ts';
import { inspectMessageContent } from './inspect-message-content.ts';
import { inspectTools } from './inspect-tools.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

/** Anthropic's message body (Anthropic Messages docs). */
const RULES: FieldRules = new Map([
  ['messages', checkedApart()],
  ['system', checkedApart()],
  ['tools', checkedApart()],
  ['max_tokens', positiveInteger()],
  ['model', nonEmptyText()],
  ['stream', boolean(FEATURE.STREAM)],
  ['temperature', number(0, 1, FEATURE.SAMPLING)],
  ['top_p', number(0, 1, FEATURE.SAMPLING)],
  ['top_k', number(0, 1_000_000, FEATURE.SAMPLING)],
  ['stop_sequences', textList()],
  ['thinking', thinking],
  ['tool_choice', toolChoice],
  ['output_config', outputConfig],
  ['output_format', object(FEATURE.STRUCTURED_OUTPUT)],
  ['metadata', object()],
  ['cache_control', object()],
  ['service_tier', wordUnless(['auto', 'standard_only'], FEATURE.SERVICE_TIER)],
  ['speed', wordUnless(['standard'], FEATURE.SERVICE_TIER)],
  ['inference_geo', wordUnless(['global'], FEATURE.SERVICE_TIER)],
  ['store', boolean(FEATURE.PROVIDER_STATE)],
  ['previous_thread_event_id', text(FEATURE.PROVIDER_STATE)],
  ['container', textOrObject(FEATURE.SERVER_TOOLS)],
  ['mcp_servers', list(FEATURE.SERVER_TOOLS)],
  ['context_management', object()],
]);

export function inspectMessages(request: JsonObject, findings: Findings): void {
  inspectFields(request, RULES, 'request', findings);
  if ((request['max_tokens'] ?? null) === null) findings.problem('request.max_tokens', 'is required');
  findings.tokens(REQUEST_TOKENS);
  if ((request['previous_thread_event_id'] ?? null) !== null) findings.tokens(UNSEEN_INPUT_TOKENS);
  if ((request['system'] ?? null) !== null) inspectSystem(request['system'], findings);
  inspectTools(request['tools'], 'request.tools', inspectTool, findings);
  for (const name of ['output_config', 'output_format']) {
    if (isJsonObject(request[name])) findings.json(request[name]);
  }
  const messages = request['messages'];
  if (!Array.isArray(messages) || messages.length === 0) {
    findings.problem('request.messages', 'must be a non-empty list of messages');
    return;
  }
  for (const [index, message] of messages.entries()) {
    inspectMessage(message, `request.messages[${index}]`, findings);
  }
}

function inspectSystem(system: unknown, findings: Findings): void {
  if (typeof system === 'string') {
    findings.text(system);
    return;
  }
  if (!Array.isArray(system)) {
    findings.problem('request.system', 'must be a string or a list of text blocks');
    return;
  }
  for (const [index, block] of system.entries()) {
    const value = isJsonObject(block) ? block['text'] : undefined;
    if (typeof value === 'string') findings.text(value);
    else findings.problem(`request.system[${index}].text`, 'must be a string');
  }
}

function inspectMessage(message: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(message)) {
    findings.problem(path, 'must be an object');
    return;
  }
  findings.tokens(MESSAGE_TOKENS);
  if (!['user', 'assistant', 'system'].includes(message['role'] as string)) {
    findings.problem(`${path}.role`, 'must be user, assistant or system');
  }
  inspectMessageContent(message['content'], `${path}.content`, findings);
}

/** A tool of the caller's has a schema; those Anthropic runs are named by a dated type. */
function inspectTool(tool: JsonObject, path: string, findings: Findings): void {
  const type = tool['type'] ?? 'custom';
  if (type !== 'custom') findings.feature(FEATURE.SERVER_TOOLS, path, 'type');
}

function thinking(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  if (typeof value['type'] !== 'string') return 'must have a type';
  return value['type'] === 'disabled' ? FEATURE.REASONING_OFF : FEATURE.REASONING;
}

function toolChoice(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  return value['type'] === 'any' || value['type'] === 'tool' ? FEATURE.FORCED_TOOL : 0;
}

function outputConfig(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  return findObject(value, 'format') === null ? 0 : FEATURE.STRUCTURED_OUTPUT;
}
