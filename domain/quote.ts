import type { ModelTarget } from './model-alias.ts';
import { AMOUNT_SCALE, type Amount, parseAmount } from './money.ts';
import type { BatchBasis, PriceRow } from './price-row.ts';
import { type PriceMode, priceEstimate } from './pricing.ts';
import type { Provider } from './provider.ts';
import { divideRoundingUp } from './rounding.ts';
import type { Calibration } from './token-calibration.ts';

/** Items of one job that share a model and a price tier. */
export interface QuoteGroup {
  readonly price: PriceRow;
  readonly items: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Most input tokens that one item of the group may have; decides the tier for all of them. */
  readonly longestInputTokens: number;
}

/** What one model of a job is expected to cost. */
export interface QuoteLine {
  readonly provider: Provider;
  readonly model: string;
  readonly items: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly amount: Amount;
  readonly batchBasis: BatchBasis;
  readonly note: string | null;
}

/** Replies that are expected to be of one length, for one reason. */
export interface ExpectedOutput {
  /** Empty for the job's own. */
  readonly requestedModel: string;
  readonly target: ModelTarget;
  /** The requests' own caps, earlier replies, or a default. */
  readonly method: 'cap' | 'learned' | 'default';
  /** Whether the requests ask the model to reason; null where that makes no difference. */
  readonly reasons: boolean | null;
  /** Choices asked for; null where caps alone are known. */
  readonly replies: number | null;
  /** Null where each reply has its own cap. */
  readonly tokensEach: number | null;
  /** Earlier replies that were looked at. */
  readonly knownReplies: number;
  readonly tokens: number;
}

/** What an estimate was made from, so that it can be explained. */
export interface QuoteInputs {
  /** Input tokens before the calibration. */
  readonly countedInputTokens: number;
  readonly calibration: Calibration | null;
  readonly expectedOutput: readonly ExpectedOutput[];
}

/** How an estimate was made. `reserved` is the amount plus the margin: what a submit holds. */
export interface Quote {
  readonly items: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly amount: Amount;
  readonly margin: string;
  readonly reserved: Amount;
  readonly lines: readonly QuoteLine[];
  readonly priceBookVersion: string;
  readonly inputs: QuoteInputs;
}

/** Prices groups of items, one line for each model. Throws RangeError when a row has no price for the mode. */
export function buildQuote(
  groups: readonly QuoteGroup[],
  mode: PriceMode,
  { margin, priceBookVersion, inputs }: Pick<Quote, 'margin' | 'priceBookVersion' | 'inputs'>,
): Quote {
  const byPrice = Map.groupBy(groups, ({ price }) => price);
  const lines = [...byPrice].map(([price, ofModel]) => quoteLine(price, ofModel, mode));
  const amount = lines.reduce((sum, line) => sum + line.amount, 0n);
  return {
    items: total(lines, 'items'),
    inputTokens: total(lines, 'inputTokens'),
    outputTokens: total(lines, 'outputTokens'),
    amount,
    margin,
    reserved: addMargin(amount, margin),
    lines,
    priceBookVersion,
    inputs,
  };
}

/** `margin` is a non-negative decimal such as `0.10`; rounded up, so that no hold falls short of it. */
function addMargin(amount: Amount, margin: string): Amount {
  const part = parseAmount(margin);
  if (part < 0n) throw new RangeError('a margin must not be negative');
  return amount + divideRoundingUp(amount * part, AMOUNT_SCALE);
}

function quoteLine(price: PriceRow, groups: readonly QuoteGroup[], mode: PriceMode): QuoteLine {
  const amount = groups.reduce(
    (sum, group) => sum + priceEstimate(price, group.inputTokens, group.outputTokens, mode, group.longestInputTokens),
    0n,
  );
  return {
    provider: price.provider,
    model: price.model,
    items: total(groups, 'items'),
    inputTokens: total(groups, 'inputTokens'),
    outputTokens: total(groups, 'outputTokens'),
    amount,
    batchBasis: price.batchBasis,
    note: price.note ?? null,
  };
}

function total<Key extends string>(rows: readonly { readonly [key in Key]: number }[], key: Key): number {
  return rows.reduce((sum, row) => sum + row[key], 0);
}
