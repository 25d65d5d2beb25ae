import { expect, test } from 'vitest';
import { sanitiseUsage } from '../../domain/usage.ts';
import { readUsage } from './usage.ts';

const usageMetadata = {
  promptTokenCount: 1000,
  cachedContentTokenCount: 800,
  toolUsePromptTokenCount: 30,
  candidatesTokenCount: 40,
  thoughtsTokenCount: 60,
  totalTokenCount: 1130,
};
const neutral = {
  inputTokens: 1030,
  cachedInputTokens: 800,
  cacheWriteTokens: 0,
  outputTokens: 100,
  reasoningTokens: 60,
};
const read = (usage: unknown) => readUsage('generate_content', { usageMetadata: usage });
const fallback = { inputTokens: 7, outputTokens: 7 };

test('adds what tools put into the prompt, and thinking to the output', () => {
  expect(read(usageMetadata)).toEqual(neutral);
  expect(sanitiseUsage(read(usageMetadata), fallback)).toEqual({ ...neutral, estimated: false });
});

test('a count that is left out is zero', () => {
  expect(sanitiseUsage(read({ promptTokenCount: 23 }), fallback)).toEqual({
    inputTokens: 23,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    estimated: false,
  });
});

test.each([
  [
    { promptTokenCount: '1000', toolUsePromptTokenCount: '30' },
    { inputTokens: 1030, estimated: false },
  ],
  [
    { promptTokenCount: 10, candidatesTokenCount: -4 },
    { inputTokens: 10, outputTokens: 7, estimated: true },
  ],
  [
    { promptTokenCount: 10, thoughtsTokenCount: 'many' },
    { outputTokens: 7, estimated: true },
  ],
  [
    { promptTokenCount: 10, toolUsePromptTokenCount: 1.5 },
    { inputTokens: 7, estimated: true },
  ],
  [
    { promptTokenCount: null, candidatesTokenCount: 3 },
    { inputTokens: 0, outputTokens: 3 },
  ],
])('reads %j as %j', (usage, expected) => {
  expect(sanitiseUsage(read(usage), fallback)).toMatchObject(expected);
});

test.each([
  ['null', null],
  ['nothing', undefined],
  ['an empty object', {}],
  ['unknown names', { prompt_tokens: 5, totalTokenCount: 9 }],
  ['a list', [1]],
  ['a number', 7],
])('takes %s for no usage, never for zero', (_name, usage) => {
  expect(read(usage)).toBeNull();
});

test.each([
  [{ tokenCount: '8' }, '8'],
  [{ usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } }, 5],
  [{ usageMetadata: { totalTokenCount: 6 } }, 6],
])('an embedding has no output: %j', (response, inputTokens) => {
  expect(readUsage('embeddings', response)).toMatchObject({ inputTokens, outputTokens: 0 });
});

test('an embedding without a count has no usage', () => {
  expect(readUsage('embeddings', { embedding: { values: [1] } })).toBeNull();
});
