import type { ExpectedOutput, QuoteInputs } from '../domain/quote.ts';
import {
  bandsFactor,
  type Calibration,
  formatFactor,
  type SampledBand,
  type TokenBand,
} from '../domain/token-calibration.ts';
import type { Encoding } from '../domain/tokenizer.ts';

/** What an estimate was made from, as stored with its quote and shown. Absent in quotes from before it was kept. */
export interface StoredEstimate {
  readonly counted_input_tokens?: number;
  readonly calibration?: StoredCalibration | null;
  readonly expected_output?: readonly StoredExpectedOutput[];
}

export interface StoredCalibration {
  readonly library: string;
  readonly sampled_items: number;
  readonly models: readonly {
    readonly requested_model: string;
    readonly provider: string;
    readonly model: string;
    readonly encoding: Encoding;
    /** Decimal: tokens of the model for each of the encoding. */
    readonly ratio: string;
    readonly ratio_source: string;
    /** Decimal, of the whole sample. */
    readonly factor: string;
    readonly bands: readonly {
      readonly band: TokenBand;
      readonly items: number;
      readonly counted_tokens: number;
      readonly tokenizer_tokens: number;
      readonly factor: string;
    }[];
  }[];
}

export interface StoredExpectedOutput {
  readonly requested_model: string;
  readonly provider: string;
  readonly model: string;
  readonly method: ExpectedOutput['method'];
  readonly reasons: boolean | null;
  readonly replies: number | null;
  readonly tokens_each: number | null;
  readonly known_replies: number;
  readonly tokens: number;
}

/** Output tokens that were held for each choice of a reply whose request sets no cap. */
export interface HeldReplies {
  readonly plain: number;
  readonly reasoning: number;
}

export function toStoredEstimate({
  countedInputTokens,
  calibration,
  expectedOutput,
}: QuoteInputs): Required<StoredEstimate> {
  return {
    counted_input_tokens: countedInputTokens,
    calibration: calibration === null ? null : toStoredCalibration(calibration),
    expected_output: expectedOutput.map(({ requestedModel, target, method, reasons, replies, ...counts }) => ({
      requested_model: requestedModel,
      provider: target.provider,
      model: target.model,
      method,
      reasons,
      replies,
      tokens_each: counts.tokensEach,
      known_replies: counts.knownReplies,
      tokens: counts.tokens,
    })),
  };
}

function toStoredCalibration({ library, models }: NonNullable<QuoteInputs['calibration']>): StoredCalibration {
  const itemsOf = (bands: readonly SampledBand[]) => bands.reduce((sum, { items }) => sum + items, 0);
  return {
    library,
    sampled_items: models.reduce((sum, { bands }) => sum + itemsOf(bands), 0),
    models: models.map(({ requestedModel, target, tokenizer, bands }) => ({
      requested_model: requestedModel,
      provider: target.provider,
      model: target.model,
      encoding: tokenizer.encoding,
      ratio: (tokenizer.perHundred / 100).toFixed(2),
      ratio_source: tokenizer.source,
      factor: formatFactor(bandsFactor(bands)),
      bands: bands.map((band) => ({
        band: band.band,
        items: band.items,
        counted_tokens: band.countedTokens,
        tokenizer_tokens: band.tokenizerTokens,
        factor: formatFactor(bandsFactor([band])),
      })),
    })),
  };
}

/** The calibration as it was, for more items to be quoted by. */
export function fromStoredCalibration(stored: StoredCalibration | null): Calibration | null {
  if (stored === null) return null;
  return {
    library: stored.library,
    models: stored.models.map((each) => ({
      requestedModel: each.requested_model,
      target: { provider: each.provider, model: each.model },
      tokenizer: {
        encoding: each.encoding,
        perHundred: Math.round(Number(each.ratio) * 100),
        source: each.ratio_source,
      },
      bands: each.bands.map((band) => ({
        band: band.band,
        items: band.items,
        countedTokens: band.counted_tokens,
        tokenizerTokens: band.tokenizer_tokens,
      })),
    })),
  };
}
