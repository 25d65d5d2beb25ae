import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureError } from './testing/estimate-error.ts';
import { TEXT_KINDS } from './testing/sample-texts.ts';

/** What docs/estimates.md says of a job of one kind of text. */
const MAX_ERROR = 0.05;
const DEFAULT_MARGIN = 0.1;
/** Less than a job's, so that most texts of a test are not sampled. */
const LIMITS = { maxItems: 60, maxBytes: 250_000 };

describe.each(TEXT_KINDS)('$name', ({ write }) => {
  test.each(['o200k_base', 'cl100k_base'] as const)(
    'is estimated within a twentieth of %s',
    async (encoding) => {
      const texts = Array.from({ length: 120 }, (_, number) => write(number));
      const { calibrated } = await measureError(texts, encoding, LIMITS);
      expect(Math.abs(calibrated)).toBeLessThan(MAX_ERROR);
    },
    60_000,
  );
});

test('the hold covers a job of any kind and size, at the default margin', async () => {
  const jobs = fc.record({
    kind: fc.constantFrom(...TEXT_KINDS),
    first: fc.nat(1_000_000),
    items: fc.integer({ min: 1, max: 150 }),
    encoding: fc.constantFrom('o200k_base' as const, 'cl100k_base' as const),
  });
  await fc.assert(
    fc.asyncProperty(jobs, async ({ kind, first, items, encoding }) => {
      const texts = Array.from({ length: items }, (_, index) => kind.write(first + index));
      const { calibrated } = await measureError(texts, encoding, LIMITS);
      expect((1 + calibrated) * (1 + DEFAULT_MARGIN)).toBeGreaterThanOrEqual(1);
    }),
    { numRuns: 25, seed: 20_261_130 },
  );
}, 120_000);
