import type { ErrorCode } from './gateway-error.ts';
import { isTextTooDeep, MAX_JSON_DEPTH } from './json-depth.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';

/** Parsing a text of no more characters takes little memory, however it nests; then the value tells. */
const LOOKED_AT_BEFORE_CHARS = 4_096;

export type JsonLine =
  | { readonly ok: true; readonly value: JsonObject }
  | {
      readonly ok: false;
      readonly error: Extract<ErrorCode, 'invalid_json' | 'invalid_item'>;
      readonly message: string;
    };

/** A number that a double may not hold; digits inside strings look the same, so it only calls for a closer look. */
const MAY_OVERFLOW = /[0-9]{16}|[0-9][eE][+]?[0-9]{3}/;
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const WHOLE_NUMBER = /^-?[0-9]+$/;

/**
 * Reads one line of JSON that must be an object. Refused besides bad syntax, because it would not reach a provider as
 * it was written: half of a surrogate pair, a whole number beyond 2^53, a number too large for a double, nesting deeper
 * than MAX_JSON_DEPTH.
 */
export function parseJsonLine(text: string): JsonLine {
  if (text.length > LOOKED_AT_BEFORE_CHARS && isTextTooDeep(text)) return tooDeep();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse('invalid_json', `is not valid JSON${describePosition(error)}`);
  }
  if (!isJsonObject(value)) return refuse('invalid_item', `must be a JSON object, not ${describeType(value)}`);
  if (isDeeperThan(value, MAX_JSON_DEPTH)) return tooDeep();
  if (!text.isWellFormed() || (SURROGATE_ESCAPE.test(text) && hasLoneSurrogate(value))) {
    return refuse('invalid_json', 'contains half of a surrogate pair, as text cut inside an emoji does');
  }
  if (MAY_OVERFLOW.test(text)) {
    const changed = findChangedNumber(text);
    if (changed !== null) return refuse('invalid_json', `contains ${changed}, which JSON numbers cannot hold exactly`);
  }
  return { ok: true, value };
}

function tooDeep(): JsonLine {
  return refuse('invalid_json', `is nested deeper than ${MAX_JSON_DEPTH} levels`);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const members = Array.isArray(value) ? value : Object.values(value);
  return members.some((member) => isDeeperThan(member, levels - 1));
}

function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (Array.isArray(value)) return value.some(hasLoneSurrogate);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, member]) => !name.isWellFormed() || hasLoneSurrogate(member));
}

/** The first number whose value would not be what the text says. The reviver's context is the number as written. */
function findChangedNumber(text: string): string | null {
  let changed: string | null = null;
  const look = (_name: string, value: unknown, context: { readonly source?: string }) => {
    if (typeof value === 'number' && changed === null) {
      const source = context.source ?? '';
      const isUnsafe = WHOLE_NUMBER.test(source) && !Number.isSafeInteger(value);
      if (isUnsafe || !Number.isFinite(value)) changed = source.slice(0, 40);
    }
    return value;
  };
  JSON.parse(text, look as (name: string, value: unknown) => unknown);
  return changed;
}

/** The engine's message quotes the text, which may be a prompt: only the place is taken from it. */
function describePosition(error: unknown): string {
  const position = error instanceof SyntaxError ? /at position ([0-9]+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (at character ${Number(position) + 1})`;
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

function refuse(error: 'invalid_json' | 'invalid_item', message: string): JsonLine {
  return { ok: false, error, message };
}
