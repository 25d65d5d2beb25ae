import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { RawUsage } from '../../domain/usage.ts';

/**
 * `usage` of a Message under neutral names (@anthropic-ai/sdk, `Usage`). Anthropic counts the input apart: the whole is
 * `input_tokens` + `cache_read_input_tokens` + `cache_creation_input_tokens`, while output includes thinking. Cache counts
 * of null are 0. Where a part of the input is no count the whole is not known, and is left out rather than understated.
 * Null where there is no usage or none of the names is known, so that an unknown shape is never taken for zero.
 */
export function readUsage(usage: unknown): RawUsage | null {
  if (!isJsonObject(usage)) return null;
  const { input_tokens: input, output_tokens: output } = usage;
  if (input === undefined && output === undefined) return null;
  const read = usage['cache_read_input_tokens'] ?? 0;
  const { write, longWrite } = readCacheWrites(usage);
  const details = usage['output_tokens_details'];
  return {
    inputTokens: addCounts([input, read, write]),
    cachedInputTokens: read,
    cacheWriteTokens: write,
    ...(longWrite !== undefined && { longCacheWriteTokens: longWrite }),
    outputTokens: output,
    reasoningTokens: isJsonObject(details) ? details['thinking_tokens'] : undefined,
  };
}

/** The total, or the sum of its two lifetimes where that is more: nothing written goes uncharged. */
function readCacheWrites(usage: JsonObject): { write: unknown; longWrite: unknown } {
  const total = usage['cache_creation_input_tokens'] ?? 0;
  const parts = usage['cache_creation'];
  if (!isJsonObject(parts)) return { write: total, longWrite: undefined };
  const longWrite = parts['ephemeral_1h_input_tokens'] ?? undefined;
  const sum = addCounts([parts['ephemeral_5m_input_tokens'] ?? 0, longWrite ?? 0]);
  const known = readCount(total);
  return { write: known === undefined || sum === undefined ? total : Math.max(known, sum), longWrite };
}

function addCounts(values: readonly unknown[]): number | undefined {
  let sum = 0;
  for (const value of values) {
    const count = readCount(value);
    if (count === undefined) return undefined;
    sum += count;
  }
  return sum;
}

function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
