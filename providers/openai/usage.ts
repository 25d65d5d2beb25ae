import type { Endpoint } from '../../domain/provider.ts';
import type { RawUsage } from '../../domain/usage.ts';

/** Moderations are free (OpenAI pricing) and their replies carry no usage: nothing, known to be nothing. */
const FREE_USAGE: RawUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/**
 * `usage` of a result body under neutral names (openai SDK: `CompletionUsage`, `ResponseUsage`,
 * `CreateEmbeddingResponse.Usage`). Told by the names it uses, not by the endpoint: servers speaking OpenAI's protocol mix
 * them. Input includes cached tokens and output includes reasoning in both. Null where there is no usage or none of the
 * names is known, so that an unknown shape is never taken for zero.
 */
export function readUsage(endpoint: Endpoint, usage: unknown): RawUsage | null {
  if (endpoint === 'moderations') return FREE_USAGE;
  if (!isRecord(usage)) return null;
  const input = usage['prompt_tokens'] ?? usage['input_tokens'];
  const output = usage['completion_tokens'] ?? usage['output_tokens'];
  if (input === undefined && output === undefined) return null;
  const inputDetails = detailsOf(usage, 'prompt_tokens_details', 'input_tokens_details');
  const outputDetails = detailsOf(usage, 'completion_tokens_details', 'output_tokens_details');
  return {
    inputTokens: input,
    cachedInputTokens: inputDetails?.['cached_tokens'],
    cacheWriteTokens: inputDetails?.['cache_write_tokens'],
    // An embedding has no output and its usage no name for it.
    outputTokens: output ?? (endpoint === 'embeddings' ? 0 : undefined),
    reasoningTokens: outputDetails?.['reasoning_tokens'],
  };
}

function detailsOf(usage: Record<string, unknown>, ...names: string[]): Record<string, unknown> | undefined {
  return names.map((name) => usage[name]).find(isRecord);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
