import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateTextTokens } from './text-tokens.ts';

describe('estimateTextTokens', () => {
  // Counts of the public o200k tokenizer, or cl100k where that is higher.
  test.each([
    ['English', 'The quick brown fox jumps over the lazy dog. It was not amused by this at all.', 19],
    ['code', 'export const total = rows.map((row) => row.amount).reduce((sum, each) => sum + each, 0);', 27],
    ['JSON', '{"id":"row_17","scores":[0.12,0.93,0.481],"tags":["a","b"],"ok":true}', 32],
    ['numbers', '12345 67890 31415926535 2.718281828', 16],
    ['German', 'Über die Änderung des Grundgesetzes können Gesetze beschließen.', 19],
    ['Chinese', '人人生而自由，在尊严和权利上一律平等。', 21],
    ['Korean', '모든 인간은 태어날 때부터 자유로우며', 21],
    ['Russian', 'Все люди рождаются свободными и равными', 21],
    ['emoji', '😀😂🥲🚀', 10],
  ])('is not below what a tokenizer counts of %s', (_kind, text, tokens) => {
    const estimate = estimateTextTokens(text);
    expect(estimate).toBeGreaterThanOrEqual(tokens);
    expect(estimate).toBeLessThanOrEqual(tokens * 2.5);
  });

  test('counts at least one token, also of nothing', () => {
    expect(estimateTextTokens('')).toBe(1);
    expect(estimateTextTokens(' ')).toBe(1);
  });

  test('counts base64 by its size: at least seven tokens for ten characters', () => {
    const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'.repeat(250);
    expect(estimateTextTokens(base64)).toBeGreaterThanOrEqual(base64.length * 0.7);
    expect(estimateTextTokens(`see ${base64}`)).toBeGreaterThanOrEqual(base64.length * 0.7);
    expect(estimateTextTokens(`${base64}, and so on`)).toBeGreaterThanOrEqual(base64.length * 0.7);
  });

  test('grows with the text and is never more than two tokens a UTF-16 unit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, more) => {
        const estimate = estimateTextTokens(text);
        expect(estimateTextTokens(text + more)).toBeGreaterThanOrEqual(estimate);
        expect(estimate).toBeLessThanOrEqual(2 * text.length + 1);
      }),
    );
  });
});
