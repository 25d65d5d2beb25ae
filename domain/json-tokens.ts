import { isJsonObject } from './json-object.ts';
import { estimateTextTokens } from './text-tokens.ts';

/** Providers render tools and schemas as text, about as long as their JSON. */
const NUMBER_TOKENS = 3;
const MAX_DEPTH = 128;

/** Tokens of any JSON value as text: names, strings and some for the punctuation. */
export function estimateJsonTokens(value: unknown, depth = 0): number {
  if (typeof value === 'string') return estimateTextTokens(value);
  if (depth > MAX_DEPTH) return 1;
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + estimateJsonTokens(entry, depth + 1), 2);
  if (!isJsonObject(value)) return NUMBER_TOKENS;
  let tokens = 2;
  for (const name of Object.keys(value))
    tokens += estimateTextTokens(name) + 1 + estimateJsonTokens(value[name], depth + 1);
  return tokens;
}
