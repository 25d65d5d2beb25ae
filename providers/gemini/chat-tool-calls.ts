import type { Part } from '@google/genai';
import { isTextTooDeep } from '../../domain/json-depth.ts';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { refuseOthers } from './refuse-members.ts';
import { placeholderFor } from './thought-signature.ts';

/** Name of the function that each call id named so far has called; a later call takes the id over. */
export type CalledFunctions = Map<string, string>;

/** The `tool_calls` of an assistant message as parts of Gemini's turn, and their names kept for the answers. */
export function toCallParts(
  calls: unknown,
  path: string,
  { model, called }: { model: string; called: CalledFunctions },
): Part[] {
  if (!Array.isArray(calls)) return [];
  const parts = calls.map((call, index) => toCallPart(call, `${path}[${index}]`, called));
  const [first] = parts;
  const placeholder = placeholderFor(model);
  if (first !== undefined && placeholder !== null) first.thoughtSignature = placeholder;
  return parts;
}

/** A tool message as the answer to the call it names. */
export function toAnswerPart(message: JsonObject, text: string, path: string, called: CalledFunctions): Part {
  const id = message['tool_call_id'];
  const name = typeof id === 'string' ? called.get(id) : undefined;
  if (typeof id !== 'string' || name === undefined) {
    throw new UntranslatableRequest(`${path}.tool_call_id`, 'no earlier message calls a function under this id');
  }
  return { functionResponse: { id, name, response: parseObject(text) ?? { result: text } } };
}

function toCallPart(call: unknown, path: string, called: CalledFunctions): Part {
  const target = isJsonObject(call) && call['type'] === 'function' ? call['function'] : null;
  if (!isJsonObject(call) || !isJsonObject(target)) {
    throw new UntranslatableRequest(`${path}.type`, 'Gemini calls functions only');
  }
  refuseOthers(call, ['id', 'type', 'function'], path);
  refuseOthers(target, ['name', 'arguments'], `${path}.function`);
  const { id } = call;
  const { name, arguments: written } = target;
  if (typeof id !== 'string') throw new UntranslatableRequest(`${path}.id`, 'must be a string');
  if (typeof name !== 'string') throw new UntranslatableRequest(`${path}.function.name`, 'must be a string');
  const args = written === '' ? {} : parseObject(written);
  if (args === null) throw new UntranslatableRequest(`${path}.function.arguments`, 'must be the text of a JSON object');
  called.set(id, name);
  return { functionCall: { id, name, args } };
}

function parseObject(text: unknown): Record<string, unknown> | null {
  if (typeof text !== 'string' || isTextTooDeep(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
