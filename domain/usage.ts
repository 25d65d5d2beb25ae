/**
 * Tokens in the gateway's neutral convention, whatever the provider's: `inputTokens` includes cached and cache-write
 * tokens, `outputTokens` includes reasoning. `estimated` marks counts that are not all the provider's own.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` written with the provider's longer lifetime (Anthropic 1 h, OpenAI 12 h). */
  readonly longCacheWriteTokens?: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly estimated: boolean;
}

/** What an adapter found, under neutral names; the values are still as the provider sent them. */
export type RawUsage = { readonly [field in Exclude<keyof Usage, 'estimated'>]?: unknown };

export const ZERO_USAGE: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  estimated: false,
};

/** One request cannot use more: the largest context windows hold a few million, a list of embeddings some tens. */
export const MAX_PLAUSIBLE_TOKENS = 100_000_000;

export function addUsage(left: Usage, right: Usage): Usage {
  const longCacheWriteTokens = (left.longCacheWriteTokens ?? 0) + (right.longCacheWriteTokens ?? 0);
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
    ...(longCacheWriteTokens > 0 && { longCacheWriteTokens }),
    outputTokens: left.outputTokens + right.outputTokens,
    reasoningTokens: left.reasoningTokens + right.reasoningTokens,
    estimated: left.estimated || right.estimated,
  };
}

/**
 * Turns counts of unknown quality into usage that can be charged. A count is good when it is a whole number (or its
 * decimal digits) from 0 to MAX_PLAUSIBLE_TOKENS.
 *
 * - Input or output that is absent, null or not good takes the fallback; the usage is `estimated`.
 * - A part (cached, cache write, reasoning) that is absent or null is 0: providers leave out what did not happen.
 * - A part that is present but not good is 0, so its tokens are charged at the full rate; `estimated`.
 * - Parts larger than their whole raise the whole to their sum, so nothing used goes uncharged; `estimated`.
 *
 * An explicit 0 is the provider's word and stays.
 */
export function sanitiseUsage(
  raw: RawUsage | null | undefined,
  fallback: { readonly inputTokens: number; readonly outputTokens: number },
): Usage {
  const input = readCount(raw?.inputTokens);
  const output = readCount(raw?.outputTokens);
  const cached = readPart(raw?.cachedInputTokens);
  const cacheWrite = readPart(raw?.cacheWriteTokens);
  const longCacheWrite = readPart(raw?.longCacheWriteTokens);
  const reasoning = readPart(raw?.reasoningTokens);

  const cacheWriteTokens = Math.max(cacheWrite ?? 0, longCacheWrite ?? 0);
  const inputParts = (cached ?? 0) + cacheWriteTokens;
  const inputTokens = Math.max(input ?? fallback.inputTokens, inputParts);
  const outputTokens = Math.max(output ?? fallback.outputTokens, reasoning ?? 0);
  const longCacheWriteTokens = longCacheWrite ?? 0;
  return {
    inputTokens,
    cachedInputTokens: cached ?? 0,
    cacheWriteTokens,
    ...(longCacheWriteTokens > 0 && { longCacheWriteTokens }),
    outputTokens,
    reasoningTokens: reasoning ?? 0,
    estimated:
      inputTokens !== input ||
      outputTokens !== output ||
      cached === null ||
      cacheWriteTokens !== cacheWrite ||
      longCacheWrite === null ||
      reasoning === null,
  };
}

function readPart(value: unknown): number | null {
  return value === undefined || value === null ? 0 : readCount(value);
}

function readCount(value: unknown): number | null {
  const count = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_PLAUSIBLE_TOKENS
    ? count
    : null;
}
