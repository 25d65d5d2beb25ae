import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { isAbsent, refuse } from './json-shape.ts';

/** Members that have a counterpart, or none is needed because another value decides. */
const CARRIED = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'reasoning_effort',
  'user',
  'safety_identifier',
]);

/** Members without a counterpart, and the values of them that ask for nothing. */
const HARMLESS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['n', (value) => value === 1],
  ['stream', isFalse],
  ['store', isFalse],
  ['logprobs', isFalse],
  ['service_tier', (value) => value === 'auto' || value === 'default'],
  ['modalities', (value) => Array.isArray(value) && value.every((modality) => modality === 'text')],
  ['functions', isEmpty],
  ['logit_bias', isEmpty],
  ['metadata', isEmpty],
]);

/** Throws UntranslatableRequest for the first member that Anthropic has no place for, known to OpenAI or not. */
export function refuseUncarried(request: JsonObject): void {
  for (const [name, value] of Object.entries(request)) {
    if (isAbsent(value) || CARRIED.has(name) || HARMLESS.get(name)?.(value)) continue;
    refuse(`request.${name}`, 'has no counterpart at Anthropic');
  }
}

function isFalse(value: unknown): boolean {
  return value === false;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
