import { AMOUNT_SCALE, type Amount, parseAmount } from './money.ts';
import { createPriceBook } from './price-book.ts';
import type { PriceRow } from './price-row.ts';
import { type PriceMode, priceEstimate, priceUsage } from './pricing.ts';
import type { Provider } from './provider.ts';
import { divideHalfEven, divideRoundingUp } from './rounding.ts';
import type { Usage } from './usage.ts';

/** What a partner's customer is shown in place of the tenant's cost. */
export interface CustomerPricing {
  /** A decimal from 0 to 10,000 with at most four decimals, on everything the list leaves out. */
  readonly markupPercent: string;
  /** Prices of models; in a job's own copy at most one row for each of its targets, under the target's own name. */
  readonly prices: readonly PriceRow[];
}

/** A model of a provider, by the name it is run or priced under. */
export interface PricedModel {
  readonly provider: Provider;
  readonly model: string;
}

const WHOLE_PERCENT = 100n * AMOUNT_SCALE;

/** An amount and its markup, rounded once: half to even, in units. */
export function markUp(amount: Amount, markupPercent: string): Amount {
  return divideHalfEven(amount * (WHOLE_PERCENT + parseAmount(markupPercent)), WHOLE_PERCENT);
}

/** What the customer is shown of one item: its own list where that has the model, else the tenant's charge marked up. */
export function customerAmount(
  pricing: CustomerPricing,
  target: PricedModel,
  { usage, amount, mode }: { readonly usage: Usage; readonly amount: Amount; readonly mode: PriceMode },
): Amount {
  const own = findOwnPrice(pricing, target);
  return own === null ? markUp(amount, pricing.markupPercent) : priceUsage(own, usage, mode);
}

/** The customer's part of what was taken back of an item: in proportion, half to even. */
export function customerShare(customer: Amount, part: Amount, whole: Amount): Amount {
  return whole === 0n ? 0n : divideHalfEven(customer * part, whole);
}

/** A line of a quote, of whole models. */
export interface EstimateLine extends PricedModel {
  readonly items: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly amount: Amount;
}

/** What the customer is told a line will cost. By a list, all items are taken to be as long as their average. */
export function customerEstimate(pricing: CustomerPricing, line: EstimateLine, mode: PriceMode): Amount {
  const own = findOwnPrice(pricing, line);
  if (own === null) return markUp(line.amount, pricing.markupPercent);
  const longest = line.items === 0 ? 0 : Math.ceil(line.inputTokens / line.items);
  return priceEstimate(own, line.inputTokens, line.outputTokens, mode, longest);
}

/** Estimate and hold of a whole quote in the customer's prices; the hold is rounded up as the gateway's own is. */
export function customerQuote(
  pricing: CustomerPricing,
  lines: readonly EstimateLine[],
  { margin, mode }: { readonly margin: string; readonly mode: PriceMode },
): { readonly amount: Amount; readonly reserved: Amount } {
  const amount = lines.reduce((sum, line) => sum + customerEstimate(pricing, line, mode), 0n);
  return { amount, reserved: amount + divideRoundingUp(amount * parseAmount(margin), AMOUNT_SCALE) };
}

/** The part of a pricing that a job needs: for its models the rows in force, each under the name that was asked for. */
export function pricingForModels(pricing: CustomerPricing, models: readonly PricedModel[], at: Date): CustomerPricing {
  const book = createPriceBook(pricing.prices);
  const found = new Map<string, PriceRow>();
  for (const { provider, model } of models) {
    const price = book.find(provider, model, at);
    if (price !== null) found.set(`${provider}/${model}`, { ...price, model });
  }
  return { markupPercent: pricing.markupPercent, prices: [...found.values()] };
}

function findOwnPrice({ prices }: CustomerPricing, { provider, model }: PricedModel): PriceRow | null {
  return prices.find((price) => price.provider === provider && price.model === model) ?? null;
}
