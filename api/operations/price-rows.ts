import type { NewPrice } from '../../contracts/price-override.ts';
import type { PriceRow, TokenRates } from '../../domain/price-row.ts';

type GivenPrice = Omit<NewPrice, 'tenant_id' | 'reason'>;

/** A price as an admin gave it; without a first day it applies from today on. */
export function toPriceRow(price: GivenPrice, now: Date): PriceRow {
  const { provider, model, currency, kind, long_context: long } = price;
  return {
    provider,
    model,
    from: price.from ?? now.toISOString().slice(0, 10),
    currency,
    kind,
    standard: toRates(price.standard),
    batch: price.batch === null ? null : toRates(price.batch),
    batchBasis: 'override',
    ...(long !== undefined && {
      longContext: {
        aboveInputTokens: long.above_input_tokens,
        standard: toRates(long.standard),
        batch: long.batch === null ? null : toRates(long.batch),
      },
    }),
    maxOutputTokens: price.max_output_tokens,
  };
}

function toRates({ input, cached_input, cache_write, output, long_cache_write }: NewPrice['standard']): TokenRates {
  return {
    input,
    cachedInput: cached_input,
    cacheWrite: cache_write,
    ...(long_cache_write !== undefined && { longCacheWrite: long_cache_write }),
    output,
  };
}
