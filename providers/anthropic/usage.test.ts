import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PriceRow } from '../../domain/price-row.ts';
import { priceUsage } from '../../domain/pricing.ts';
import { sanitiseUsage } from '../../domain/usage.ts';
import { readUsage } from './usage.ts';

const message = {
  input_tokens: 100,
  cache_read_input_tokens: 800,
  cache_creation_input_tokens: 300,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
  output_tokens: 90,
  output_tokens_details: { thinking_tokens: 64 },
};
const fallback = { inputTokens: 77, outputTokens: 7 };

test('adds up the whole input and keeps its parts', () => {
  const raw = readUsage(message);
  expect(raw).toEqual({
    inputTokens: 1200,
    cachedInputTokens: 800,
    cacheWriteTokens: 300,
    longCacheWriteTokens: 200,
    outputTokens: 90,
    reasoningTokens: 64,
  });
  expect(sanitiseUsage(raw, fallback).estimated).toBe(false);
});

test('takes null for none of a part, as the SDK types allow', () => {
  const nulls = {
    input_tokens: 23,
    output_tokens: 8,
    cache_read_input_tokens: null,
    cache_creation_input_tokens: null,
    cache_creation: null,
    output_tokens_details: null,
  };
  expect(sanitiseUsage(readUsage(nulls), fallback)).toEqual({
    inputTokens: 23,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 8,
    reasoningTokens: 0,
    estimated: false,
  });
});

test.each([
  ['the lifetimes alone', { cache_creation_input_tokens: null }, 1200, 300],
  ['a total below its lifetimes', { cache_creation_input_tokens: 250 }, 1200, 300],
  ['a total above its lifetimes', { cache_creation_input_tokens: 350 }, 1250, 350],
  ['a total alone', { cache_creation: null }, 1200, 300],
  ['digits', { input_tokens: '100', cache_read_input_tokens: '800' }, 1200, 300],
])('reads cache writes from %s', (_name, changes, inputTokens, cacheWriteTokens) => {
  expect(readUsage({ ...message, ...changes })).toMatchObject({ inputTokens, cacheWriteTokens });
});

test.each([
  ['a part', { cache_read_input_tokens: 'many' }],
  ['the input', { input_tokens: -1 }],
])('does not understate the whole where %s is no count', (_name, changes) => {
  const raw = readUsage({ ...message, ...changes });
  expect(raw?.inputTokens).toBeUndefined();
  expect(sanitiseUsage(raw, { inputTokens: 5000, outputTokens: 1 })).toMatchObject({
    inputTokens: 5000,
    estimated: true,
  });
});

test.each([
  ['null', null],
  ['nothing', undefined],
  ['an empty object', {}],
  ['unknown names', { promptTokenCount: 5, prompt_tokens: 9 }],
  ['a list', [1]],
  ['a number', 7],
])('takes %s for no usage, never for zero', (_name, usage) => {
  expect(readUsage(usage)).toBeNull();
});

const PRICE: PriceRow = {
  provider: 'anthropic',
  model: 'm',
  from: '2024-01-01',
  currency: 'USD',
  kind: 'chat',
  standard: { input: '4', cachedInput: '0.2', cacheWrite: '5', longCacheWrite: '8', output: '20' },
  batch: { input: '2', cachedInput: '0.1', cacheWrite: '2.5', longCacheWrite: '4', output: '10' },
  batchBasis: 'published',
  maxOutputTokens: 1000,
};

test('the same truth counted the inclusive way and the exclusive way costs the same', () => {
  const count = fc.nat({ max: 1_000_000 });
  fc.assert(
    fc.property(
      fc.record({ plain: count, cached: count, shortWrite: count, longWrite: count, answer: count, thinking: count }),
      ({ plain, cached, shortWrite, longWrite, answer, thinking }) => {
        const exclusive = readUsage({
          input_tokens: plain,
          cache_read_input_tokens: cached,
          cache_creation_input_tokens: shortWrite + longWrite,
          cache_creation: { ephemeral_5m_input_tokens: shortWrite, ephemeral_1h_input_tokens: longWrite },
          output_tokens: answer + thinking,
          output_tokens_details: { thinking_tokens: thinking },
        });
        const inclusive = {
          inputTokens: plain + cached + shortWrite + longWrite,
          cachedInputTokens: cached,
          cacheWriteTokens: shortWrite + longWrite,
          longCacheWriteTokens: longWrite,
          outputTokens: answer + thinking,
          reasoningTokens: thinking,
        };
        const priced = [exclusive, inclusive].map((raw) => priceUsage(PRICE, sanitiseUsage(raw, fallback), 'batch'));
        const truth =
          BigInt(plain) * 2_000_000n +
          BigInt(cached) * 100_000n +
          BigInt(shortWrite) * 2_500_000n +
          BigInt(longWrite) * 4_000_000n +
          BigInt(answer + thinking) * 10_000_000n;
        expect(priced).toEqual([truth, truth]);
      },
    ),
  );
});

test('charges 1 000 input tokens of which 800 are cached exactly', () => {
  const usage = { input_tokens: 200, cache_read_input_tokens: 800, output_tokens: 100 };
  const money = priceUsage(PRICE, sanitiseUsage(readUsage(usage), fallback), 'batch');
  expect(money).toBe(200n * 2_000_000n + 800n * 100_000n + 100n * 10_000_000n);
});
