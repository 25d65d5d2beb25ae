import type OpenAI from 'openai';
import { type RawUsage, sanitiseUsage } from '../domain/usage.ts';

/**
 * Usage as a chat completion shows it, in OpenAI's convention: the prompt includes cached tokens and cache writes, the
 * completion includes reasoning. Null where any count is not the provider's own: a reply never shows a guess.
 */
export function toCompletionUsage(raw: RawUsage | null): OpenAI.CompletionUsage | null {
  const usage = sanitiseUsage(raw, { inputTokens: 0, outputTokens: 0 });
  if (usage.estimated) return null;
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
