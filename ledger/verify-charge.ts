import type { FindTargetPrice } from '../db/target-prices.ts';
import { formatNumeric } from '../domain/money.ts';
import { type PriceMode, priceUsage } from '../domain/pricing.ts';
import type { Provider } from '../domain/provider.ts';
import type { Report } from './verify-corrections.ts';

/** Of `item_outcomes` o and `batch_shards` s. */
export const PRICED_OUTCOME = `o.item_no, o.input_tokens, o.cached_input_tokens, o.cache_write_tokens, o.long_cache_write_tokens,
  o.output_tokens, o.reasoning_tokens, o.amount, s.requested_model, s.provider, s.provider_model`;

export interface PricedOutcome {
  readonly item_no: number;
  readonly input_tokens: string;
  readonly cached_input_tokens: string;
  readonly cache_write_tokens: string;
  readonly long_cache_write_tokens: string;
  readonly output_tokens: string;
  readonly reasoning_tokens: string;
  readonly amount: string;
  readonly requested_model: string;
  readonly provider: Provider;
  readonly provider_model: string;
}

/** Prices an outcome again from its usage. */
export function verifyCharge(
  jobId: string,
  row: PricedOutcome,
  { findPrice, priceMode }: { readonly findPrice: FindTargetPrice; readonly priceMode: PriceMode },
  report: Report,
): void {
  const { requested_model: requestedModel, provider, provider_model: providerModel } = row;
  const { price } = findPrice({ requestedModel, provider, providerModel });
  const usage = {
    inputTokens: Number(row.input_tokens),
    cachedInputTokens: Number(row.cached_input_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    longCacheWriteTokens: Number(row.long_cache_write_tokens),
    outputTokens: Number(row.output_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    estimated: false,
  };
  report(`${jobId} item ${row.item_no}`, 'charge', row.amount, formatNumeric(priceUsage(price, usage, priceMode)));
}
