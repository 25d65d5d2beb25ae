import type { JsonObject } from './json-object.ts';
import { type OutputCap, readOutputCap } from './output-cap.ts';
import type { PriceRow } from './price-row.ts';
import type { Endpoint } from './provider.ts';

/** Held for a reply without a cap, where nothing was learned from earlier ones. */
export const DEFAULT_OUTPUT_TOKENS = 2_048;
/** The same for a request that asks the model to reason: what it thinks is output too. */
export const DEFAULT_REASONING_OUTPUT_TOKENS = 8_192;

/**
 * Output tokens to expect of one request: its cap, else what was learned of earlier replies, else a default; never
 * more than the model can write; times its choices. 0 for models that generate nothing.
 */
export function expectOutputTokens(cap: OutputCap, price: PriceRow, learnedTokens: number | null = null): number {
  const assumed = learnedTokens ?? (cap.reasons ? DEFAULT_REASONING_OUTPUT_TOKENS : DEFAULT_OUTPUT_TOKENS);
  return Math.min(cap.maxOutputTokens ?? assumed, price.maxOutputTokens) * cap.choices;
}

export function estimateOutputTokens(endpoint: Endpoint, request: JsonObject, price: PriceRow): number {
  return expectOutputTokens(readOutputCap(endpoint, request), price);
}
