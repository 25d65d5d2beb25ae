import { expect, test } from 'vitest';
import { expectUncappedReplies } from './expected-output.ts';
import { OUTPUT_CLASSES } from './output-history.ts';
import { createPriceBook, PUBLISHED_PRICES } from './price-book.ts';
import type { PriceRow } from './price-row.ts';

const AT = new Date('2026-11-30T00:00:00Z');
const book = createPriceBook(PUBLISHED_PRICES);

function priceOf(provider: string, model: string): PriceRow {
  const price = book.find(provider, model, AT);
  if (price === null) throw new Error(`no price of ${model}`);
  return price;
}

const MINI = priceOf('openai', 'gpt-4o-mini');

/** A hundred replies of 2^place to 2^(place + 1) - 1 tokens. */
function replies(price: PriceRow, place: number, reasons = false) {
  const classes = new Array<number>(OUTPUT_CLASSES).fill(0);
  classes[place] = 100;
  return [{ provider: price.provider, model: price.model, reasons, classes }];
}

test('nothing known leaves the defaults', () => {
  const unknown = { method: 'default', knownReplies: 0 };
  expect(expectUncappedReplies(MINI, 'openai', [])).toEqual({
    plain: { ...unknown, tokens: 2_048 },
    reasoning: { ...unknown, tokens: 8_192 },
  });
});

test('short replies lower and long ones raise what is held, each for its own kind of request', () => {
  const short = expectUncappedReplies(MINI, 'openai', replies(MINI, 6));
  expect(short.plain).toEqual({ tokens: 121, method: 'learned', knownReplies: 100 });
  expect(short.reasoning.method).toBe('default');
  const long = expectUncappedReplies(MINI, 'openai', replies(MINI, 13, true));
  expect(long.reasoning).toEqual({ tokens: 15_564, method: 'learned', knownReplies: 100 });
  expect(long.plain.method).toBe('default');
});

test('no more is held than the model can write', () => {
  expect(expectUncappedReplies(MINI, 'openai', replies(MINI, 20)).plain.tokens).toBe(MINI.maxOutputTokens);
});

test('where every request is sent with a cap, short replies do not cut later ones', () => {
  const haiku = priceOf('anthropic', 'claude-haiku-4-5');
  const short = expectUncappedReplies(haiku, 'anthropic', replies(haiku, 6));
  expect(short.plain).toEqual({ tokens: 2_048, method: 'default', knownReplies: 100 });
  const long = expectUncappedReplies(haiku, 'anthropic', replies(haiku, 12));
  expect(long.plain).toEqual({ tokens: 7_782, method: 'learned', knownReplies: 100 });
});
