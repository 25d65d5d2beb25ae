import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FEATURE } from './request-features.ts';
import {
  applyFactor,
  bandsFactor,
  type Calibration,
  calibrationFactor,
  formatFactor,
  type SampledBand,
  tokenBandOf,
} from './token-calibration.ts';

const TARGET = { provider: 'openai', model: 'gpt-4o-mini' };
const TOKENIZER = { encoding: 'o200k_base', perHundred: 100, source: 'its own' } as const;

function band(changes: Partial<SampledBand> = {}): SampledBand {
  return { band: 'short', items: 20, countedTokens: 1_000, tokenizerTokens: 800, ...changes };
}

function calibration(...bands: SampledBand[]): Calibration {
  return { library: 'test', models: [{ requestedModel: '', target: TARGET, tokenizer: TOKENIZER, bands }] };
}

test.each([
  [0, 'short'],
  [7, 'short'],
  [8, 'medium'],
  [12, 'medium'],
  [13, 'long'],
  [30, 'long'],
])('items of token class %i are %s', (tokenClass, expected) => {
  expect(tokenBandOf(tokenClass)).toBe(expected);
});

test('a group takes the factor of its own band', () => {
  const known = calibration(band(), band({ band: 'long', countedTokens: 9_000, tokenizerTokens: 18_000 }));
  expect(calibrationFactor(known, { requestedModel: '', tokenClass: 3, features: 0 }, TARGET)).toEqual({
    numerator: 800,
    denominator: 1_000,
  });
  expect(calibrationFactor(known, { requestedModel: '', tokenClass: 14, features: 0 }, TARGET)).toEqual({
    numerator: 18_000,
    denominator: 9_000,
  });
});

test('a band of few or no items takes the factor of its model', () => {
  const known = calibration(band(), band({ band: 'long', items: 7, countedTokens: 1_000, tokenizerTokens: 2_000 }));
  const whole = { numerator: 2_800, denominator: 2_000 };
  expect(calibrationFactor(known, { requestedModel: '', tokenClass: 14, features: 0 }, TARGET)).toEqual(whole);
  expect(calibrationFactor(known, { requestedModel: '', tokenClass: 9, features: 0 }, TARGET)).toEqual(whole);
});

test('a sample says nothing of another model or another target', () => {
  const one = { numerator: 1, denominator: 1 };
  expect(calibrationFactor(null, { requestedModel: '', tokenClass: 3, features: 0 }, TARGET)).toEqual(one);
  expect(
    calibrationFactor(calibration(band()), { requestedModel: 'other', tokenClass: 3, features: 0 }, TARGET),
  ).toEqual(one);
  const elsewhere = { provider: 'anthropic', model: 'gpt-4o-mini' };
  expect(calibrationFactor(calibration(band()), { requestedModel: '', tokenClass: 3, features: 0 }, elsewhere)).toEqual(
    one,
  );
});

test.each([
  [249, { numerator: 1, denominator: 4 }],
  [250, { numerator: 250, denominator: 1_000 }],
  [4_000, { numerator: 4_000, denominator: 1_000 }],
  [4_001, { numerator: 4, denominator: 1 }],
])('%i real tokens for 1,000 counted ones', (tokenizerTokens, factor) => {
  expect(bandsFactor([band({ tokenizerTokens })])).toEqual(factor);
});

test('nothing sampled leaves the count as it is', () => {
  expect(bandsFactor([])).toEqual({ numerator: 1, denominator: 1 });
  expect(bandsFactor([band({ countedTokens: 0, tokenizerTokens: 0 })])).toEqual({ numerator: 1, denominator: 1 });
});

test('a factor is applied exactly and rounded up, also where floats would not reach', () => {
  expect(applyFactor(10, { numerator: 1, denominator: 3 })).toBe(4);
  expect(applyFactor(0, { numerator: 1, denominator: 3 })).toBe(0);
  const tokens = fc.integer({ min: 0, max: 2 ** 45 });
  const part = fc.integer({ min: 1, max: 2 ** 40 });
  fc.assert(
    fc.property(tokens, part, part, (counted, numerator, denominator) => {
      fc.pre(numerator <= 4 * denominator);
      const applied = BigInt(applyFactor(counted, { numerator, denominator }));
      const exact = BigInt(counted) * BigInt(numerator);
      expect(applied * BigInt(denominator) >= exact).toBe(true);
      expect((applied - 1n) * BigInt(denominator) < exact || applied === 0n).toBe(true);
    }),
  );
});

test('a factor is shown to four decimals', () => {
  expect(formatFactor({ numerator: 2, denominator: 3 })).toBe('0.6667');
  expect(formatFactor({ numerator: 1, denominator: 1 })).toBe('1.0000');
  expect(formatFactor({ numerator: 1, denominator: 20_000 })).toBe('0.0001');
});

test('texts do not lower the count of attachments, nor change that of token ids', () => {
  const group = (features: number) => ({ requestedModel: '', tokenClass: 3, features });
  const [low, high] = [calibration(band()), calibration(band({ tokenizerTokens: 1_500 }))];
  const one = { numerator: 1, denominator: 1 };
  expect(calibrationFactor(low, group(FEATURE.IMAGE_INPUT), TARGET)).toEqual(one);
  expect(calibrationFactor(high, group(FEATURE.DOCUMENT_INPUT), TARGET).numerator).toBe(1_500);
  expect(calibrationFactor(high, group(FEATURE.TOKEN_INPUT), TARGET)).toEqual(one);
  expect(calibrationFactor(low, group(FEATURE.TOOLS), TARGET).numerator).toBe(800);
});
