import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DOCUMENT_ERROR_OF, PROBLEM_TOKENS, wouldCrossTier } from './document-attempt.ts';
import { DOCUMENT_ERROR_CODES } from './document-error.ts';
import { FAILURE_CODES } from './failure.ts';

test('every failure of an item is told of its document by a code that is documented', () => {
  for (const code of FAILURE_CODES) expect(DOCUMENT_ERROR_CODES).toContain(DOCUMENT_ERROR_OF[code]);
  expect(DOCUMENT_ERROR_OF.batch_expired).toBe('expired');
  expect(DOCUMENT_ERROR_OF.provider_cancelled).toBe('upstream_canceled');
});

test('a repair is left out only where its tokens and the first ones together would be charged at a dearer tier', () => {
  const tokens = fc.nat(1_000_000);
  fc.assert(
    fc.property(tokens, tokens, tokens, (inputTokens, outputTokens, above) => {
      const together = 2 * inputTokens + outputTokens + PROBLEM_TOKENS;
      const crosses = inputTokens <= above && together > above;
      expect(wouldCrossTier({ inputTokens, outputTokens }, above)).toBe(crosses);
      expect(wouldCrossTier({ inputTokens, outputTokens }, null)).toBe(false);
    }),
  );
});
