import { expect, test } from 'vitest';
import { readOutputCap } from './output-cap.ts';

const NO_CAP = { maxOutputTokens: null, choices: 1, reasons: false };

test.each([
  ['chat.completions', {}, NO_CAP],
  ['chat.completions', { max_tokens: 10 }, { ...NO_CAP, maxOutputTokens: 10 }],
  [
    'chat.completions',
    { max_tokens: 10, max_completion_tokens: 50, n: 3 },
    { ...NO_CAP, maxOutputTokens: 50, choices: 3 },
  ],
  ['chat.completions', { max_tokens: 'ten', n: -1, reasoning_effort: 'high' }, { ...NO_CAP, reasons: true }],
  ['chat.completions', { max_tokens: 0, reasoning_effort: 'none' }, NO_CAP],
  [
    'responses',
    { max_output_tokens: 9, reasoning: { effort: 'low' } },
    { ...NO_CAP, maxOutputTokens: 9, reasons: true },
  ],
  ['responses', { reasoning: { effort: 'none' } }, NO_CAP],
  ['messages', { max_tokens: 9, thinking: { type: 'adaptive' } }, { ...NO_CAP, maxOutputTokens: 9, reasons: true }],
  ['messages', { max_tokens: 9, thinking: { type: 'disabled' } }, { ...NO_CAP, maxOutputTokens: 9 }],
  [
    'generate_content',
    { generationConfig: { maxOutputTokens: 9, candidateCount: 2, thinkingConfig: {} } },
    { maxOutputTokens: 9, choices: 2, reasons: true },
  ],
  ['generate_content', { generation_config: { max_output_tokens: 9 } }, { ...NO_CAP, maxOutputTokens: 9 }],
  ['generate_content', { generationConfig: 'x' }, NO_CAP],
  ['embeddings', { max_tokens: 9 }, { ...NO_CAP, maxOutputTokens: 0 }],
  ['moderations', {}, { ...NO_CAP, maxOutputTokens: 0 }],
] as const)('of %s %j is %j', (endpoint, request, cap) => {
  expect(readOutputCap(endpoint, request)).toEqual(cap);
});
