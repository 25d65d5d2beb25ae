import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PriceRow, rates, START_OF_BOOK } from '../domain/price-row.ts';
import { priceUsage } from '../domain/pricing.ts';
import { sanitiseUsage } from '../domain/usage.ts';
import { readUsage as readAnthropicUsage } from './anthropic/usage.ts';
import { readUsage as readGeminiUsage } from './gemini/usage.ts';
import { readUsage as readOpenAiUsage } from './openai/usage.ts';

const price: PriceRow = {
  provider: 'any',
  model: 'any',
  from: START_OF_BOOK,
  currency: 'USD',
  kind: 'chat',
  standard: rates('2', '0.2', '2.5', '10'),
  batch: rates('1', '0.15', '1.25', '5'),
  batchBasis: 'published',
  longContext: {
    aboveInputTokens: 200_000,
    standard: rates('4', '0.4', '5', '15'),
    batch: rates('2', '0.2', '2.5', '7.5'),
  },
  maxOutputTokens: 64_000,
};

const count = fc.integer({ min: 0, max: 300_000 });
const truth = fc.record({ plain: count, cached: count, said: count, thought: count });

test('one truth costs the same in the three conventions', () => {
  fc.assert(
    fc.property(truth, ({ plain, cached, said, thought }) => {
      // OpenAI: cached tokens in the input, reasoning in the output.
      const openai = readOpenAiUsage('chat.completions', {
        prompt_tokens: plain + cached,
        completion_tokens: said + thought,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens_details: { reasoning_tokens: thought },
      });
      // Anthropic: cached tokens apart, thinking in the output.
      const anthropic = readAnthropicUsage({
        input_tokens: plain,
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: null,
        output_tokens: said + thought,
      });
      // Gemini: cached tokens in the input, thinking apart, zeros left out.
      const gemini = readGeminiUsage('generate_content', {
        usageMetadata: {
          promptTokenCount: plain + cached,
          ...(cached > 0 && { cachedContentTokenCount: cached }),
          ...(said > 0 && { candidatesTokenCount: said }),
          ...(thought > 0 && { thoughtsTokenCount: thought }),
        },
      });
      const [first, ...others] = [openai, anthropic, gemini].map((raw) => {
        const usage = sanitiseUsage(raw, { inputTokens: 1, outputTokens: 1 });
        expect(usage.estimated).toBe(false);
        return priceUsage(price, usage, 'batch');
      });
      expect(others).toEqual([first, first]);
    }),
  );
});

test('800 of 1 000 input tokens from the cache cost the cache’s batch rate', () => {
  const usageMetadata = { promptTokenCount: 1000, cachedContentTokenCount: 800, candidatesTokenCount: 100 };
  const usage = sanitiseUsage(readGeminiUsage('chat.completions', { usageMetadata }), {
    inputTokens: 0,
    outputTokens: 0,
  });
  expect(priceUsage(price, usage, 'batch')).toBe(200n * 1_000_000n + 800n * 150_000n + 100n * 5_000_000n);
});
