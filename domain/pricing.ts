import { type Amount, parseAmount } from './money.ts';
import type { PriceRow, TokenRates } from './price-row.ts';
import type { Usage } from './usage.ts';

export type PriceMode = 'batch' | 'standard';

/** Units of money for one token. */
interface UnitRates {
  readonly input: Amount;
  readonly cachedInput: Amount;
  readonly cacheWrite: Amount;
  readonly longCacheWrite: Amount;
  readonly output: Amount;
}

const TOKENS_PER_RATE = 1_000_000n;
const unitRatesOf = new WeakMap<TokenRates, UnitRates>();

/** Whether a row can price this mode at all. Without a batch price there is no fallback: the caller refuses. */
export function canPrice(price: PriceRow, mode: PriceMode): boolean {
  return mode === 'standard' || price.batch !== null;
}

/**
 * What one item costs, exactly: its own tier by its own input, cached and cache-write tokens at their own rates,
 * nothing rounded. Input that the parts exceed counts as no plain input. Throws RangeError when the row has no price
 * for the mode.
 */
export function priceUsage(price: PriceRow, usage: Usage, mode: PriceMode): Amount {
  const unit = unitRates(findRates(price, usage.inputTokens, mode));
  const longWrite = Math.min(usage.longCacheWriteTokens ?? 0, usage.cacheWriteTokens);
  const plainInput = Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens);
  return (
    BigInt(plainInput) * unit.input +
    BigInt(usage.cachedInputTokens) * unit.cachedInput +
    BigInt(usage.cacheWriteTokens - longWrite) * unit.cacheWrite +
    BigInt(longWrite) * unit.longCacheWrite +
    BigInt(usage.outputTokens) * unit.output
  );
}

/**
 * What one item is expected to cost: no cache is counted on. For a sum over several items, `longestInputTokens` is the
 * most that one of them may have, so that all are priced in its tier. Throws as `priceUsage` does.
 */
export function priceEstimate(
  price: PriceRow,
  inputTokens: number,
  outputTokens: number,
  mode: PriceMode,
  longestInputTokens = inputTokens,
): Amount {
  const unit = unitRates(findRates(price, longestInputTokens, mode));
  return BigInt(inputTokens) * unit.input + BigInt(outputTokens) * unit.output;
}

function findRates(price: PriceRow, inputTokens: number, mode: PriceMode): TokenRates {
  const tier =
    price.longContext !== undefined && inputTokens > price.longContext.aboveInputTokens ? price.longContext : price;
  const found = tier[mode];
  if (found === null) throw new RangeError(`${price.provider}/${price.model} has no ${mode} price`);
  return found;
}

function unitRates(rates: TokenRates): UnitRates {
  const known = unitRatesOf.get(rates);
  if (known !== undefined) return known;
  const unit = {
    input: perToken(rates.input),
    cachedInput: perToken(rates.cachedInput),
    cacheWrite: perToken(rates.cacheWrite),
    longCacheWrite: perToken(rates.longCacheWrite ?? rates.cacheWrite),
    output: perToken(rates.output),
  };
  unitRatesOf.set(rates, unit);
  return unit;
}

function perToken(perMillion: string): Amount {
  const amount = parseAmount(perMillion);
  if (amount < 0n || amount % TOKENS_PER_RATE !== 0n) {
    throw new RangeError(`a rate is a non-negative decimal with at most six decimals: ${perMillion}`);
  }
  return amount / TOKENS_PER_RATE;
}
