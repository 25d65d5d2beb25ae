import type { Provider } from './provider.ts';

/** Prices of one million tokens, as exact decimal strings with at most six decimals. */
export interface TokenRates {
  readonly input: string;
  readonly cachedInput: string;
  readonly cacheWrite: string;
  /** Cache writes with the provider's longer lifetime; absent where they cost what other writes do. */
  readonly longCacheWrite?: string;
  readonly output: string;
}

export type ModelKind = 'chat' | 'embedding' | 'moderation';

/**
 * Where the batch rates come from: the provider's own list, half of the standard rates because the provider documents
 * batch as half, a model that costs nothing, or an admin who set them.
 */
export type BatchBasis = 'published' | 'half_of_standard' | 'free' | 'override';

/** What a model costs from a day on. Every rate is data: no code derives one from another. */
export interface PriceRow {
  readonly provider: Provider;
  readonly model: string;
  /** Other ids of the same model at the same price. */
  readonly alsoKnownAs?: readonly string[];
  /** First day (UTC, YYYY-MM-DD) on which the row applies, until a later row of the same model. */
  readonly from: string;
  /** ISO 4217 */
  readonly currency: string;
  readonly kind: ModelKind;
  readonly standard: TokenRates;
  /** Null where the model has no batch price: then it cannot be priced in batch mode. */
  readonly batch: TokenRates | null;
  readonly batchBasis: BatchBasis;
  /** An item whose whole input is above the limit is charged at these rates throughout. */
  readonly longContext?: {
    readonly aboveInputTokens: number;
    readonly standard: TokenRates;
    readonly batch: TokenRates | null;
  };
  /** The most one reply can hold, or a cautious guess where it is not published. 0 where nothing is generated. */
  readonly maxOutputTokens: number;
  /** What a person should know of the figures. */
  readonly note?: string;
}

/** Rows whose first day is not known apply from here, so that no job falls before the book. */
export const START_OF_BOOK = '2024-01-01';

/** Where a provider does not publish the longest reply. */
export const CAUTIOUS_MAX_OUTPUT_TOKENS = 128_000;

export function rates(
  input: string,
  cachedInput: string,
  cacheWrite: string,
  output: string,
  longCacheWrite?: string,
): TokenRates {
  return { input, cachedInput, cacheWrite, output, ...(longCacheWrite !== undefined && { longCacheWrite }) };
}
