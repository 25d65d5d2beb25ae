import type { ModelTarget } from './model-alias.ts';
import { FEATURE } from './request-features.ts';
import { divideRoundingUp } from './rounding.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Requests of like length: a long document is another kind of text than a short question. */
export const TOKEN_BANDS = ['short', 'medium', 'long'] as const;
export type TokenBand = (typeof TOKEN_BANDS)[number];

/** Up to 255 tokens, up to 8,191, and beyond. */
export function tokenBandOf(tokenClass: number): TokenBand {
  if (tokenClass < 8) return 'short';
  return tokenClass < 13 ? 'medium' : 'long';
}

/** Sampled items of one band, counted both ways. */
export interface SampledBand {
  readonly band: TokenBand;
  readonly items: number;
  /** By character classes, as at append. */
  readonly countedTokens: number;
  /** By the tokenizer, with its ratio to the model's own. */
  readonly tokenizerTokens: number;
}

/** What a sample of the items that ask for one model tells of the rest. */
export interface ModelCalibration {
  /** Empty for the job's own. */
  readonly requestedModel: string;
  /** Whose tokens were counted: it says nothing of another target. */
  readonly target: ModelTarget;
  readonly tokenizer: Tokenizer;
  readonly bands: readonly SampledBand[];
}

export interface Calibration {
  /** Name and version of what counted. */
  readonly library: string;
  readonly models: readonly ModelCalibration[];
}

/** An exact ratio: what counted tokens are multiplied with. */
export interface CalibrationFactor {
  readonly numerator: number;
  readonly denominator: number;
}

const UNCALIBRATED: CalibrationFactor = { numerator: 1, denominator: 1 };
/** Hindi by o200k_base has a factor of 0.35; Greek by cl100k_base with a ratio of 1.76 one of 2.5. */
const LEAST: CalibrationFactor = { numerator: 1, denominator: 4 };
const MOST: CalibrationFactor = { numerator: 4, denominator: 1 };

/** Fewer items of a band are too few to speak for it, where others of the model were sampled too. */
const MIN_BAND_ITEMS = 8;

/** Items of one model, length and kind. */
interface CountedGroup {
  readonly requestedModel: string;
  readonly tokenClass: number;
  readonly features: number;
}

/** Requests with an attachment. */
const ATTACHMENTS = FEATURE.IMAGE_INPUT | FEATURE.DOCUMENT_INPUT | FEATURE.AUDIO_INPUT | FEATURE.VIDEO_INPUT;

/** Requests whose tokens are not those of their text: a sample leaves them out. */
export const NOT_OF_TEXT = ATTACHMENTS | FEATURE.TOKEN_INPUT;

/**
 * The factor for a group: of its band, else of its model, else 1. Between a quarter and four, whatever a sample says.
 * What texts tell does not lower the count of attachments, which has floors by their size; token ids are counted exactly.
 */
export function calibrationFactor(
  calibration: Calibration | null,
  group: CountedGroup,
  target: ModelTarget,
): CalibrationFactor {
  if ((group.features & FEATURE.TOKEN_INPUT) !== 0) return UNCALIBRATED;
  const factor = factorOfText(calibration, group, target);
  return (group.features & ATTACHMENTS) !== 0 ? atLeastOne(factor) : factor;
}

export function atLeastOne(factor: CalibrationFactor): CalibrationFactor {
  return factor.numerator < factor.denominator ? UNCALIBRATED : factor;
}

function factorOfText(
  calibration: Calibration | null,
  { requestedModel, tokenClass }: CountedGroup,
  target: ModelTarget,
): CalibrationFactor {
  const ofModel = calibration?.models.find(
    (each) =>
      each.requestedModel === requestedModel &&
      each.target.provider === target.provider &&
      each.target.model === target.model,
  );
  if (ofModel === undefined) return UNCALIBRATED;
  const ofBand = ofModel.bands.filter(({ band, items }) => band === tokenBandOf(tokenClass) && items >= MIN_BAND_ITEMS);
  return bandsFactor(ofBand.length > 0 ? ofBand : ofModel.bands);
}

export function bandsFactor(bands: readonly SampledBand[]): CalibrationFactor {
  const numerator = bands.reduce((sum, { tokenizerTokens }) => sum + tokenizerTokens, 0);
  const denominator = bands.reduce((sum, { countedTokens }) => sum + countedTokens, 0);
  if (denominator === 0) return UNCALIBRATED;
  if (4 * numerator < denominator) return LEAST;
  return numerator > 4 * denominator ? MOST : { numerator, denominator };
}

/** Rounded up to whole tokens. */
export function applyFactor(tokens: number, { numerator, denominator }: CalibrationFactor): number {
  return Number(divideRoundingUp(BigInt(tokens) * BigInt(numerator), BigInt(denominator)));
}

/** To four decimals, half up: for people. */
export function formatFactor({ numerator, denominator }: CalibrationFactor): string {
  const scaled = (BigInt(numerator) * 20_000n + BigInt(denominator)) / (2n * BigInt(denominator));
  return `${scaled / 10_000n}.${(scaled % 10_000n).toString().padStart(4, '0')}`;
}
