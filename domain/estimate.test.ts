import { describe, expect, test } from 'vitest';
import {
  DEFAULT_OUTPUT_TOKENS,
  DEFAULT_REASONING_OUTPUT_TOKENS,
  estimateOutputTokens,
  expectOutputTokens,
} from './estimate.ts';
import { createPriceBook, PUBLISHED_PRICES } from './price-book.ts';
import type { PriceRow } from './price-row.ts';

const AT = new Date('2026-11-30T00:00:00Z');
function priceOf(model: string): PriceRow {
  const price = createPriceBook(PUBLISHED_PRICES).find('openai', model, AT);
  if (price === null) throw new Error(`the book knows ${model}`);
  return price;
}
const CHAT = priceOf('gpt-4o-mini');

describe('estimateOutputTokens', () => {
  test.each([
    ['takes the cap', { max_tokens: 300 }, 300],
    ['takes the cap for each choice', { max_tokens: 300, n: 4 }, 1_200],
    ['takes the limit of the model for a cap beyond it', { max_tokens: 1_000_000 }, 16_384],
    ['takes a default where there is no cap', {}, DEFAULT_OUTPUT_TOKENS],
    ['takes a larger default for reasoning', { reasoning_effort: 'high' }, DEFAULT_REASONING_OUTPUT_TOKENS],
  ])('%s', (_what, request, tokens) => {
    expect(estimateOutputTokens('chat.completions', request, CHAT)).toBe(tokens);
  });

  test('is nothing for embeddings and moderations', () => {
    expect(estimateOutputTokens('embeddings', { input: 'x' }, priceOf('text-embedding-3-small'))).toBe(0);
    expect(estimateOutputTokens('moderations', { input: 'x' }, priceOf('omni-moderation-latest'))).toBe(0);
  });
});

describe('expectOutputTokens', () => {
  test('uses what was learned only where there is no cap', () => {
    const cap = { maxOutputTokens: null, choices: 2, reasons: true };
    expect(expectOutputTokens(cap, CHAT, 150)).toBe(300);
    expect(expectOutputTokens({ ...cap, maxOutputTokens: 1_000 }, CHAT, 150)).toBe(2_000);
  });
});
