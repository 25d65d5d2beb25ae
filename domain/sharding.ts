import type { CapabilityRow } from './capability-row.ts';

/** What one provider batch may hold. */
export interface ShardLimits {
  readonly maxItems: number;
  /** Of the encoded input: the uploaded file, or the create body where requests are sent inline. */
  readonly maxBytes: number;
  /** Texts to embed over the whole batch, null where they are not limited. */
  readonly maxEmbeddingInputs: number | null;
  /** The provider has no label to find a lost batch by, so shards of one job tell themselves apart by their size. */
  readonly sizesDiffer: boolean;
}

/** Encoding adds to what is counted here (ids, escapes, line ends); a batch refused for its size is built in vain. */
const BYTES_USED_PERCENT = 95;

/** The limits shards are cut by: the provider's with room to spare, and no more items than the job asks for. */
export function effectiveLimits(
  { limits, sizesDiffer }: Pick<CapabilityRow, 'limits' | 'sizesDiffer'>,
  maxItemsPerShard: number | null,
): ShardLimits {
  return {
    maxItems: Math.min(limits.maxItems, maxItemsPerShard ?? limits.maxItems),
    maxBytes: Math.floor((limits.maxBytes * BYTES_USED_PERCENT) / 100),
    maxEmbeddingInputs: limits.maxEmbeddingInputs,
    sizesDiffer,
  };
}

export interface ShardItem {
  readonly itemNo: number;
  readonly byteCount: number;
  readonly embeddingInputs: number;
}

/** A shard is a range of item numbers, both ends included. */
export interface ShardRange {
  readonly firstItemNo: number;
  readonly lastItemNo: number;
  readonly items: number;
  readonly byteCount: number;
}

/**
 * Cuts items, given in order of their numbers, into ranges under the limits, reading them once. Where sizes have to
 * differ each shard may hold one item less than the one before. Throws RangeError for an item that fits no shard:
 * validation refuses those.
 */
export function* cutShards(items: Iterable<ShardItem>, limits: ShardLimits): Generator<ShardRange, void> {
  let open: (ShardRange & { readonly embeddingInputs: number }) | null = null;
  let closed = 0;
  for (const item of items) {
    if (!fits(item.byteCount, item.embeddingInputs, limits)) {
      throw new RangeError(`item ${item.itemNo} is larger than a whole batch may be`);
    }
    const grown: ShardRange & { readonly embeddingInputs: number } = {
      firstItemNo: open?.firstItemNo ?? item.itemNo,
      lastItemNo: item.itemNo,
      items: (open?.items ?? 0) + 1,
      byteCount: (open?.byteCount ?? 0) + item.byteCount,
      embeddingInputs: (open?.embeddingInputs ?? 0) + item.embeddingInputs,
    };
    const maxItems = limits.sizesDiffer ? Math.max(1, limits.maxItems - closed) : limits.maxItems;
    if (open !== null && (grown.items > maxItems || !fits(grown.byteCount, grown.embeddingInputs, limits))) {
      yield rangeOf(open);
      closed += 1;
      open = { ...grown, firstItemNo: item.itemNo, items: 1, ...sizeOf(item) };
    } else open = grown;
  }
  if (open !== null) yield rangeOf(open);
}

function fits(byteCount: number, embeddingInputs: number, { maxBytes, maxEmbeddingInputs }: ShardLimits): boolean {
  return byteCount <= maxBytes && (maxEmbeddingInputs === null || embeddingInputs <= maxEmbeddingInputs);
}

function sizeOf({ byteCount, embeddingInputs }: ShardItem): { byteCount: number; embeddingInputs: number } {
  return { byteCount, embeddingInputs };
}

function rangeOf({ firstItemNo, lastItemNo, items, byteCount }: ShardRange): ShardRange {
  return { firstItemNo, lastItemNo, items, byteCount };
}
