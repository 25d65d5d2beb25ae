import { hasOnly, inspectMembers } from './chat-members.ts';
import type { Findings } from './findings.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

const TOOL_MEMBERS = ['type', 'function'];
const FUNCTION_MEMBERS = ['name', 'description', 'parameters', 'strict'];

/** One of `tools` (openai SDK, `ChatCompletionTool`): a function, a custom tool, or one that the provider runs. */
export function inspectChatTool(tool: JsonObject, path: string, findings: Findings): void {
  const { type } = tool;
  if (type === 'custom') findings.feature(FEATURE.PROVIDER_SPECIFIC, path, 'type');
  else if (type !== 'function') findings.feature(FEATURE.SERVER_TOOLS, path, 'type');
  else {
    inspectMembers(tool, TOOL_MEMBERS, path, findings);
    inspectFunction(findObject(tool, 'function') ?? {}, `${path}.function`, findings);
  }
}

function inspectFunction(declared: JsonObject, path: string, findings: Findings): void {
  inspectMembers(declared, FUNCTION_MEMBERS, path, findings);
  const { name } = declared;
  if (typeof name !== 'string' || name === '') findings.problem(`${path}.name`, 'must be a non-empty string');
  if (typeof (declared['description'] ?? '') !== 'string') findings.problem(`${path}.description`, 'must be a string');
  const parameters = declared['parameters'] ?? {};
  if (!isJsonObject(parameters)) findings.problem(`${path}.parameters`, 'must be an object');
  else if ((parameters['type'] ?? 'object') !== 'object') {
    findings.feature(FEATURE.PROVIDER_SPECIFIC, `${path}.parameters`, 'type');
  }
  const strict = declared['strict'] ?? false;
  if (typeof strict !== 'boolean') findings.problem(`${path}.strict`, 'must be true or false');
  else if (strict) findings.feature(FEATURE.TOOL_RULES, path, 'strict');
}

/** openai SDK, `ChatCompletionToolChoiceOption`. */
export function toolChoice(value: unknown): number | string {
  if (isJsonObject(value)) return chosenTool(value);
  if (value === 'auto' || value === 'none') return 0;
  return value === 'required' ? FEATURE.FORCED_TOOL : 'must be none, auto, required or an object';
}

function chosenTool(choice: JsonObject): number {
  const chosen = findObject(choice, 'function');
  if (choice['type'] === 'function' && chosen !== null && typeof chosen['name'] === 'string') {
    const isKnown = hasOnly(choice, TOOL_MEMBERS) && hasOnly(chosen, ['name']);
    return isKnown ? FEATURE.FORCED_TOOL : FEATURE.FORCED_TOOL | FEATURE.UNKNOWN_FIELD;
  }
  const isFree = findObject(choice, 'allowed_tools')?.['mode'] === 'auto';
  return isFree ? FEATURE.PROVIDER_SPECIFIC : FEATURE.PROVIDER_SPECIFIC | FEATURE.FORCED_TOOL;
}
