import fc from 'fast-check';
import { expect, test } from 'vitest';
import { intersectModels, matchesModel } from './model-patterns.ts';

test.each([
  [['gpt-5*'], 'gpt-5.6-terra', true],
  [['gpt-5*'], 'gpt-5', true],
  [['gpt-5'], 'gpt-5.6-terra', false],
  [['*'], '', true],
  [[], 'gpt-5', false],
])('%j stands for %s: %s', (patterns, model, expected) => {
  expect(matchesModel(patterns, model)).toBe(expected);
});

test('the common part of patterns stands for exactly the models that both stand for', () => {
  const text = fc.stringMatching(/^[ab]{0,4}$/);
  const pattern = fc.tuple(text, fc.boolean()).map(([start, isOpen]) => (isOpen ? `${start}*` : start));
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 3 }), pattern, text, (patterns, other, model) => {
      const isCommon = matchesModel(patterns, model) && matchesModel([other], model);
      expect(matchesModel(intersectModels(patterns, other), model)).toBe(isCommon);
    }),
    { numRuns: 1_000 },
  );
});
