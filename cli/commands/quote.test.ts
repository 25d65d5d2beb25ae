import { expect, test } from 'vitest';
import { describeInput, describeOutput } from './quote.ts';

const BANDS = [{ band: 'short' as const, items: 200, counted_tokens: 10, tokenizer_tokens: 9, factor: '0.9000' }];
const MODEL = { requested_model: '', provider: 'anthropic', model: 'claude-opus-5', bands: BANDS };

test('the input is explained by what was counted and what a sample said', () => {
  const models = [{ ...MODEL, encoding: 'o200k_base', ratio: '1.76', ratio_source: 'docs', factor: '1.3000' }];
  const calibration = { library: 'gpt-tokenizer 4.0.0', sampled_items: 200, models };
  const quote = { counted_input_tokens: 1_000_000, input_tokens: 1_300_000, calibration };
  expect(describeInput(quote)).toBe(
    '1,300,000 tokens: 1,000,000 counted, claude-opus-5 × 1.3000 by o200k_base × 1.76 (200 items sampled with gpt-tokenizer 4.0.0)',
  );
  const older = { ...quote, counted_input_tokens: null, calibration: null };
  expect(describeInput(older)).toBe('1,300,000 tokens as counted');
});

test('the output is explained by caps, by earlier replies or by a default', () => {
  const of = { requested_model: '', provider: 'openai', model: 'gpt-4o-mini' };
  const none = { reasons: null, replies: null, tokens_each: null, known_replies: 0 };
  expect(describeOutput({ ...of, ...none, method: 'cap', tokens: 4_000 })).toBe(
    "4,000 tokens of gpt-4o-mini: the requests' own caps",
  );
  const replies = { reasons: false, replies: 1_000, tokens_each: 486, tokens: 486_000 };
  expect(describeOutput({ ...of, ...replies, method: 'learned', known_replies: 60 })).toBe(
    '486,000 tokens of gpt-4o-mini: 1,000 replies × 486, what earlier replies stayed within, 60 known',
  );
  expect(describeOutput({ ...of, ...replies, method: 'default', known_replies: 0 })).toBe(
    '486,000 tokens of gpt-4o-mini: 1,000 replies × 486, a default',
  );
});
