import { expect, test } from 'vitest';
import type { Dialect } from './provider.ts';
import { tokenizerOf } from './tokenizer.ts';

test.each<[string, Dialect, string, string, number]>([
  ['openai', 'openai', 'gpt-4o-mini', 'o200k_base', 100],
  ['openai', 'openai', 'gpt-4.1', 'o200k_base', 100],
  ['openai', 'openai', 'gpt-6-sol', 'o200k_base', 100],
  ['openai', 'openai', 'gpt-4', 'cl100k_base', 100],
  ['openai', 'openai', 'gpt-4-turbo', 'cl100k_base', 100],
  ['openai', 'openai', 'text-embedding-3-small', 'cl100k_base', 100],
  ['local', 'openai', 'qwen3', 'o200k_base', 130],
  ['gemini', 'gemini', 'gemini-2.5-flash', 'o200k_base', 120],
  ['anthropic', 'anthropic', 'claude-opus-4-6', 'o200k_base', 130],
  ['anthropic', 'anthropic', 'claude-haiku-4-5-20251001', 'o200k_base', 130],
  ['anthropic', 'anthropic', 'claude-3-5-sonnet-20241022', 'o200k_base', 130],
  ['anthropic', 'anthropic', 'claude-sonnet-4-20250514', 'o200k_base', 130],
  ['anthropic', 'anthropic', 'claude-opus-4-7', 'o200k_base', 176],
  ['anthropic', 'anthropic', 'claude-sonnet-5', 'o200k_base', 176],
  ['anthropic', 'anthropic', 'claude-fable-5-1', 'o200k_base', 176],
])('%s (%s) %s is counted by %s at %i %%', (provider, dialect, model, encoding, perHundred) => {
  expect(tokenizerOf({ provider, dialect, model })).toMatchObject({ encoding, perHundred });
});
