import { expect, test } from 'vitest';
import { DEFAULT_ALIASES, resolveModel } from './model-alias.ts';
import { findPrice } from './price-book.ts';

const ALIASES = {
  ...DEFAULT_ALIASES,
  'gpt-4o': 'gemini/gemini-2.5-pro',
  'house-model': 'claude-opus-5',
  broken: 'nowhere/x',
};

test.each([
  ['an alias', 'analysis-large', 'openai/gpt-5.6-terra'],
  ['an alias of a plain id', 'house-model', 'anthropic/claude-opus-5'],
  ['an alias named like a model, before the model', 'gpt-4o', 'gemini/gemini-2.5-pro'],
  ['provider/model', 'anthropic/claude-haiku-4-5', 'anthropic/claude-haiku-4-5'],
  ['provider/model that the price book does not know', 'openai/ft:gpt-4o/x', 'openai/ft:gpt-4o/x'],
  ['a plain id of the price book', 'gemini-2.5-flash', 'gemini/gemini-2.5-flash'],
  ['a dated snapshot', 'gpt-4o-mini-2024-07-18', 'openai/gpt-4o-mini-2024-07-18'],
])('resolves %s', (_what, name, target) => {
  const resolved = resolveModel(name, ALIASES);
  expect(`${resolved?.provider}/${resolved?.model}`).toBe(target);
});

test.each([
  '',
  '/',
  'openai/',
  '/gpt-4o-mini',
  'azure/gpt-4o-mini',
  'no-such-model',
  'broken',
  'constructor',
  '__proto__',
])('does not know %j', (name) => {
  expect(resolveModel(name, ALIASES)).toBeNull();
});

test('every default alias names a model with a batch price', () => {
  for (const alias of Object.keys(DEFAULT_ALIASES)) {
    const target = resolveModel(alias, DEFAULT_ALIASES);
    const price = target === null ? null : findPrice(target.provider, target.model, new Date('2026-11-30T00:00:00Z'));
    expect(price?.batch).toBeTruthy();
  }
});
