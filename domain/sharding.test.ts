import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CapabilityRow } from './capability-row.ts';
import type { Endpoint } from './provider.ts';
import { cutShards, effectiveLimits, type ShardItem, type ShardLimits } from './sharding.ts';
import { testCatalogue } from './testing/test-catalogue.ts';

const LIMITS: ShardLimits = {
  maxItems: 3,
  maxBytes: 100,
  maxEmbeddingInputs: null,
  maxInputTokens: null,
  sizesDiffer: false,
};
const itemsOf = (...byteCounts: number[]): ShardItem[] =>
  byteCounts.map((byteCount, index) => ({ itemNo: index + 1, byteCount, embeddingInputs: 1, inputTokens: byteCount }));
const cut = (items: readonly ShardItem[], limits: Partial<ShardLimits> = {}) =>
  [...cutShards(items, { ...LIMITS, ...limits })].map(({ firstItemNo, lastItemNo }) => [firstItemNo, lastItemNo]);

function rowOf(provider: string, endpoint: Endpoint): CapabilityRow {
  const row = testCatalogue().findCapability(provider, endpoint, 'some-model');
  if (row === null) throw new Error('the matrix has a row for every model');
  return row;
}

describe('effectiveLimits', () => {
  test.each([
    ['openai', 'chat.completions', null, 50_000, 190_000_000, null],
    ['openai', 'embeddings', null, 50_000, 190_000_000, 50_000],
    ['openai', 'chat.completions', 100, 100, 190_000_000, null],
    ['openai', 'chat.completions', 9_999_999, 50_000, 190_000_000, null],
    ['anthropic', 'messages', null, 100_000, 243_200_000, null],
    ['gemini', 'embeddings', null, 100_000, 1_900_000_000, null],
  ] as const)(
    'of %s for %s with %s items a shard',
    (provider, endpoint, asked, maxItems, maxBytes, maxEmbeddingInputs) => {
      const limits = effectiveLimits(rowOf(provider, endpoint), { maxItems: [asked] });
      expect(limits).toMatchObject({ maxItems, maxBytes, maxEmbeddingInputs });
    },
  );

  test.each([
    ['openai', [50_000, 50_000, 20_000]],
    ['anthropic', [100_000, 20_000]],
    ['gemini', [100_000, 20_000]],
  ])('make shards of 120,000 small items on %s: %j', (provider, sizes) => {
    const items = Array.from({ length: 120_000 }, (_, index) => ({
      itemNo: index + 1,
      byteCount: 1_000,
      embeddingInputs: 0,
      inputTokens: 250,
    }));
    const limits = effectiveLimits(rowOf(provider, 'chat.completions'), { maxItems: [] });
    expect([...cutShards(items, limits)].map((shard) => shard.items)).toEqual(sizes);
  });

  test('take the smallest of what the provider, the job, the tenant and the queue allow', () => {
    const row = rowOf('openai', 'chat.completions');
    const queue = { inputTokens: 2_000_000, items: 900 };
    expect(effectiveLimits(row, { maxItems: [null, 500], queue })).toMatchObject({
      maxItems: 500,
      maxInputTokens: 2_000_000,
    });
    expect(effectiveLimits(row, { maxItems: [null, 5_000], queue }).maxItems).toBe(900);
  });

  test('make sizes differ only where a batch has no label', () => {
    expect(effectiveLimits(rowOf('anthropic', 'messages'), { maxItems: [] }).sizesDiffer).toBe(true);
    expect(effectiveLimits(rowOf('openai', 'responses'), { maxItems: [] }).sizesDiffer).toBe(false);
    const items = Array.from({ length: 120 }, (_, index) => ({
      itemNo: index + 1,
      byteCount: 1,
      embeddingInputs: 0,
      inputTokens: 1,
    }));
    const sizes = [...cutShards(items, effectiveLimits(rowOf('anthropic', 'messages'), { maxItems: [50] }))].map(
      (shard) => shard.items,
    );
    expect(sizes).toEqual([50, 49, 21]);
  });
});

describe('cutShards', () => {
  test.each([
    ['nothing into nothing', [], []],
    [
      'by count',
      [1, 1, 1, 1],
      [
        [1, 3],
        [4, 4],
      ],
    ],
    [
      'by bytes',
      [60, 40, 1, 99],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      'a full item into its own shard',
      [100, 1, 100],
      [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    ],
  ])('cuts %s', (_what, byteCounts, ranges) => {
    expect(cut(itemsOf(...byteCounts))).toEqual(ranges);
  });

  test('cuts by the texts to embed', () => {
    const items = [2, 3, 1].map((embeddingInputs, index) => ({
      itemNo: index + 1,
      byteCount: 1,
      embeddingInputs,
      inputTokens: 1,
    }));
    expect(cut(items, { maxEmbeddingInputs: 5 })).toEqual([
      [1, 2],
      [3, 3],
    ]);
  });

  test('cuts by what the queue takes, an item above that alone', () => {
    expect(cut(itemsOf(30, 30, 90, 10, 40), { maxInputTokens: 60 })).toEqual([
      [1, 2],
      [3, 3],
      [4, 5],
    ]);
  });

  test('takes one item less from shard to shard where sizes have to differ', () => {
    expect(cut(itemsOf(...Array(7).fill(1)), { maxItems: 3, sizesDiffer: true })).toEqual([
      [1, 3],
      [4, 5],
      [6, 6],
      [7, 7],
    ]);
  });

  test.each([
    [itemsOf(101), {}],
    [[{ itemNo: 1, byteCount: 1, embeddingInputs: 6, inputTokens: 1 }], { maxEmbeddingInputs: 5 }],
  ])('refuses an item that fits no shard', (items, limits) => {
    expect(() => cut(items, limits)).toThrow(/item 1 is larger/);
  });

  test('keeps every item, in order, once, and every shard under its limits', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 })), fc.boolean(), (byteCounts, sizesDiffer) => {
        const shards = [...cutShards(itemsOf(...byteCounts), { ...LIMITS, sizesDiffer })];
        const numbers = shards.flatMap(({ firstItemNo, lastItemNo }) =>
          Array.from({ length: lastItemNo - firstItemNo + 1 }, (_, index) => firstItemNo + index),
        );
        expect(numbers).toEqual(byteCounts.map((_, index) => index + 1));
        for (const { firstItemNo, lastItemNo, items, byteCount } of shards) {
          expect(items).toBe(lastItemNo - firstItemNo + 1);
          expect(items <= LIMITS.maxItems && byteCount <= LIMITS.maxBytes).toBe(true);
          expect(byteCount).toBe(byteCounts.slice(firstItemNo - 1, lastItemNo).reduce((sum, bytes) => sum + bytes, 0));
        }
      }),
    );
  });
});
