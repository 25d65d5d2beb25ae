import type { CapabilityRow } from './capability-row.ts';
import type { QueueLimits } from './capacity.ts';

/** What one provider batch may hold. */
export interface ShardLimits {
  readonly maxItems: number;
  /** Of the encoded input: the uploaded file, or the create body where requests are sent inline. */
  readonly maxBytes: number;
  /** Texts to embed over the whole batch, null where they are not limited. */
  readonly maxEmbeddingInputs: number | null;
  /** Input tokens, as estimated, that the provider takes in at once; an item above it gets a shard of its own. */
  readonly maxInputTokens: number | null;
  /** The provider has no label to find a lost batch by, so shards of one job tell themselves apart by their size. */
  readonly sizesDiffer: boolean;
}

/** Encoding adds to what is counted here (ids, escapes, line ends); a batch refused for its size is built in vain. */
const BYTES_USED_PERCENT = 95;

/**
 * The limits shards are cut by: the provider's with room to spare, no more items than were asked for (by the job, by its
 * tenant), and no more than the provider's queue is known to take: a larger batch could only be refused.
 */
export function effectiveLimits(
  { limits, sizesDiffer }: Pick<CapabilityRow, 'limits' | 'sizesDiffer'>,
  asked: { readonly maxItems: readonly (number | null)[]; readonly queue?: Pick<QueueLimits, 'inputTokens' | 'items'> },
): ShardLimits {
  const caps = [limits.maxItems, asked.queue?.items ?? null, ...asked.maxItems].filter((cap) => cap !== null);
  return {
    maxItems: Math.max(1, Math.min(...caps)),
    maxBytes: Math.floor((limits.maxBytes * BYTES_USED_PERCENT) / 100),
    maxEmbeddingInputs: limits.maxEmbeddingInputs,
    maxInputTokens: asked.queue?.inputTokens ?? null,
    sizesDiffer,
  };
}

export interface ShardItem {
  readonly itemNo: number;
  readonly byteCount: number;
  readonly embeddingInputs: number;
  readonly inputTokens: number;
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
  let open: OpenShard | null = null;
  let closed = 0;
  for (const item of items) {
    if (!fits(item, limits)) throw new RangeError(`item ${item.itemNo} is larger than a whole batch may be`);
    const grown: OpenShard = {
      firstItemNo: open?.firstItemNo ?? item.itemNo,
      lastItemNo: item.itemNo,
      items: (open?.items ?? 0) + 1,
      byteCount: (open?.byteCount ?? 0) + item.byteCount,
      embeddingInputs: (open?.embeddingInputs ?? 0) + item.embeddingInputs,
      inputTokens: (open?.inputTokens ?? 0) + item.inputTokens,
    };
    const maxItems = limits.sizesDiffer ? Math.max(1, limits.maxItems - closed) : limits.maxItems;
    if (open !== null && (grown.items > maxItems || !fits(grown, limits) || !fitsQueue(grown, limits))) {
      yield rangeOf(open);
      closed += 1;
      open = { ...grown, firstItemNo: item.itemNo, items: 1, ...sizeOf(item) };
    } else open = grown;
  }
  if (open !== null) yield rangeOf(open);
}

type Size = Pick<ShardItem, 'byteCount' | 'embeddingInputs' | 'inputTokens'>;
type OpenShard = ShardRange & Size;

function fits({ byteCount, embeddingInputs }: Size, { maxBytes, maxEmbeddingInputs }: ShardLimits): boolean {
  return byteCount <= maxBytes && (maxEmbeddingInputs === null || embeddingInputs <= maxEmbeddingInputs);
}

function fitsQueue({ inputTokens }: Size, { maxInputTokens }: ShardLimits): boolean {
  return maxInputTokens === null || inputTokens <= maxInputTokens;
}

function sizeOf({ byteCount, embeddingInputs, inputTokens }: Size): Size {
  return { byteCount, embeddingInputs, inputTokens };
}

function rangeOf({ firstItemNo, lastItemNo, items, byteCount }: ShardRange): ShardRange {
  return { firstItemNo, lastItemNo, items, byteCount };
}
