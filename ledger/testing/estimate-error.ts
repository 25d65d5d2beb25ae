import { TOKEN_SAMPLE_LIMITS } from '../../db/token-sample.ts';
import { chooseSample } from '../../domain/item-sample.ts';
import { countInputTokens } from '../../domain/request-inspection.ts';
import {
  applyFactor,
  type Calibration,
  calibrationFactor,
  type TokenBand,
  tokenBandOf,
} from '../../domain/token-calibration.ts';
import { CLASS_COUNTER } from '../../domain/token-counter.ts';
import type { Encoding, Tokenizer } from '../../domain/tokenizer.ts';
import { countBands } from '../calibrate.ts';
import { loadTokenCounter } from '../tokenizer.ts';

/** Of a job of chat requests with one text each. Errors are parts of the true count: 0.1 is a tenth too many. */
export interface EstimateError {
  /** By the tokenizer. */
  readonly tokens: number;
  /** As counted at append. */
  readonly counted: number;
  /** After the calibration: what is estimated. */
  readonly calibrated: number;
  /** Of the item that the calibrated estimate is furthest below of, or least above. */
  readonly worstItem: number;
}

const TARGET = { provider: 'openai', model: 'test' };

export async function measureError(
  texts: readonly string[],
  encoding: Encoding,
  limits: typeof TOKEN_SAMPLE_LIMITS = TOKEN_SAMPLE_LIMITS,
): Promise<EstimateError> {
  const tokenizer: Tokenizer = { encoding, perHundred: 100, source: 'test' };
  const counter = await loadTokenCounter(tokenizer);
  const items = texts.map((text, itemNo) => {
    const request = { messages: [{ role: 'user', content: text }] };
    const counted = countInputTokens('chat.completions', request, CLASS_COUNTER);
    const tokens = countInputTokens('chat.completions', request, counter);
    const tokenClass = Math.floor(Math.log2(counted));
    const body = JSON.stringify(request);
    return { itemNo, kind: tokenBandOf(tokenClass), bytes: Buffer.byteLength(body), body, counted, tokens, tokenClass };
  });
  const sampled = chooseSample(items, limits).map(({ body, kind }) => ({
    requestedModel: '',
    band: kind satisfies TokenBand,
    body,
  }));
  const job = { endpoint: 'chat.completions', requestDefaults: null } as const;
  const bands = await countBands(job, sampled, counter);
  const calibration: Calibration = {
    library: 'test',
    models: [{ requestedModel: '', target: TARGET, tokenizer, bands }],
  };
  const estimates = items.map(({ counted, tokenClass }) =>
    applyFactor(counted, calibrationFactor(calibration, { requestedModel: '', tokenClass, features: 0 }, TARGET)),
  );
  const tokens = sum(items.map((item) => item.tokens));
  return {
    tokens,
    counted: sum(items.map((item) => item.counted)) / tokens - 1,
    calibrated: sum(estimates) / tokens - 1,
    worstItem: Math.min(...items.map((item, index) => (estimates[index] ?? 0) / item.tokens - 1)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
