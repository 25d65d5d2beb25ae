import { inspectMembers } from './chat-members.ts';
import type { Findings } from './findings.ts';
import { parseJsonLine } from './json-line.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

const CALL_MEMBERS = ['id', 'type', 'function'];
const FUNCTION_MEMBERS = ['name', 'arguments'];

/** `tool_calls` of an assistant's message (openai SDK, `ChatCompletionMessageToolCall`). Returns the ids of the calls. */
export function inspectToolCalls(calls: unknown, path: string, findings: Findings): readonly string[] {
  if (!Array.isArray(calls)) {
    findings.problem(path, 'must be a list');
    return [];
  }
  findings.json(calls);
  return calls.flatMap((call: unknown, index) => {
    const place = `${path}[${index}]`;
    if (!isJsonObject(call)) {
      findings.problem(place, 'must be an object');
      return [];
    }
    inspectCall(call, place, findings);
    return typeof call['id'] === 'string' ? [call['id']] : [];
  });
}

/** OpenAI takes calls of any form it once made; others need an id, a name and arguments that are an object. */
function inspectCall(call: JsonObject, path: string, findings: Findings): void {
  inspectMembers(call, CALL_MEMBERS, path, findings);
  if (!isFilledText(call['id'])) findings.feature(FEATURE.PROVIDER_SPECIFIC, path, 'id');
  const called = findObject(call, 'function');
  if (call['type'] !== 'function' || called === null) {
    findings.feature(FEATURE.PROVIDER_SPECIFIC, path, 'type');
    return;
  }
  const place = `${path}.function`;
  inspectMembers(called, FUNCTION_MEMBERS, place, findings);
  if (!isFilledText(called['name'])) findings.feature(FEATURE.PROVIDER_SPECIFIC, place, 'name');
  if (!isArguments(called['arguments'])) findings.feature(FEATURE.PROVIDER_SPECIFIC, place, 'arguments');
}

/** JSON text of an object that reads and writes without a change; nothing at all stands for no arguments. */
function isArguments(value: unknown): boolean {
  return typeof value === 'string' && (value === '' || parseJsonLine(value).ok);
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
