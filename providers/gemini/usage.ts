import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { Endpoint } from '../../domain/provider.ts';
import type { RawUsage } from '../../domain/usage.ts';

/**
 * What a response says it used, under neutral names (@google/genai, `GenerateContentResponseUsageMetadata`). The prompt
 * includes cached tokens but not what server tools put into it; candidates exclude thinking. A count of zero is left out,
 * so an absent one is 0. Null where there is no usage or none of the names is known, so that an unknown shape is never
 * taken for zero.
 */
export function readUsage(endpoint: Endpoint, response: JsonObject): RawUsage | null {
  const usage = response['usageMetadata'];
  if (endpoint === 'embeddings') return readEmbeddingUsage(isJsonObject(usage) ? usage : {}, response);
  if (!isJsonObject(usage)) return null;
  const prompt = usage['promptTokenCount'] ?? undefined;
  const toolPrompt = usage['toolUsePromptTokenCount'] ?? undefined;
  const candidates = usage['candidatesTokenCount'] ?? undefined;
  const thoughts = usage['thoughtsTokenCount'] ?? undefined;
  const cached = usage['cachedContentTokenCount'] ?? undefined;
  if ([prompt, toolPrompt, candidates, thoughts, cached].every((count) => count === undefined)) return null;
  return {
    inputTokens: addCounts(prompt, toolPrompt),
    cachedInputTokens: cached ?? 0,
    // Writing a cache is not billed by the token: its storage is, by time.
    cacheWriteTokens: 0,
    outputTokens: addCounts(candidates, thoughts),
    reasoningTokens: thoughts ?? 0,
  };
}

/** `tokenCount` beside the embedding in batches (@google/genai, `SingleEmbedContentResponse`). An embedding has no output. */
function readEmbeddingUsage(usage: JsonObject, response: JsonObject): RawUsage | null {
  const input = usage['promptTokenCount'] ?? usage['totalTokenCount'] ?? response['tokenCount'] ?? undefined;
  if (input === undefined) return null;
  return { inputTokens: input, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
}

/** Where one of the two is no count, that one: the sum is not known then, and the whole is seen to be no count either. */
function addCounts(whole: unknown = 0, extra: unknown = 0): unknown {
  const [first, second] = [readCount(whole), readCount(extra)];
  if (first === undefined) return whole;
  return second === undefined ? extra : first + second;
}

function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
