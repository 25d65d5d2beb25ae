import { expect, test } from 'vitest';
import { sanitiseUsage } from '../../domain/usage.ts';
import { readUsage } from './usage.ts';

const chat = {
  prompt_tokens: 1000,
  completion_tokens: 100,
  total_tokens: 1100,
  prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 50 },
  completion_tokens_details: { reasoning_tokens: 60 },
};
const response = {
  input_tokens: 1000,
  output_tokens: 100,
  input_tokens_details: { cached_tokens: 800, cache_write_tokens: 50 },
  output_tokens_details: { reasoning_tokens: 60 },
};
const neutral = {
  inputTokens: 1000,
  cachedInputTokens: 800,
  cacheWriteTokens: 50,
  outputTokens: 100,
  reasoningTokens: 60,
};

test.each([
  ['chat.completions', chat],
  ['chat.completions', response],
  ['responses', response],
  ['responses', chat],
  ['chat.completions', { ...response, prompt_tokens: null, completion_tokens: null }],
] as const)('reads the same truth of %s under either set of names', (endpoint, usage) => {
  const raw = readUsage(endpoint, usage);
  expect(raw).toEqual(neutral);
  expect(sanitiseUsage(raw, { inputTokens: 1, outputTokens: 1 })).toEqual({ ...neutral, estimated: false });
});

test.each([
  ['null', null],
  ['nothing', undefined],
  ['an empty object', {}],
  ['unknown names', { promptTokenCount: 5, tokens: 9 }],
  ['a list', [1]],
  ['a number', 7],
])('takes %s for no usage, never for zero', (_name, usage) => {
  expect(readUsage('chat.completions', usage)).toBeNull();
});

test('leaves values as they came and names what is missing by leaving it out', () => {
  expect(readUsage('chat.completions', { prompt_tokens: '12' })).toEqual({ inputTokens: '12' });
  expect(readUsage('chat.completions', { ...chat, prompt_tokens_details: null })).toMatchObject({
    inputTokens: 1000,
    reasoningTokens: 60,
  });
});

test('an embedding has no output, a moderation costs nothing', () => {
  const estimate = { inputTokens: 99, outputTokens: 99 };
  expect(sanitiseUsage(readUsage('embeddings', { prompt_tokens: 8, total_tokens: 8 }), estimate)).toMatchObject({
    inputTokens: 8,
    outputTokens: 0,
    estimated: false,
  });
  expect(sanitiseUsage(readUsage('moderations', undefined), estimate)).toMatchObject({
    inputTokens: 0,
    outputTokens: 0,
    estimated: false,
  });
});
