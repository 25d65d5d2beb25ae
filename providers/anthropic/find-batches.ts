import type { FindBatchesInput, NativeBatch } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { malformedReply } from '../reply-error.ts';
import { hasResults, readTime, toNativeBatch } from './batch.ts';
import { type AttemptProof, proveAttempt } from './prove-attempt.ts';
import { readCounts, sumCounts } from './request-counts.ts';
import { BatchListReply, BatchReply, ListedBatch } from './wire.ts';

const PAGE_SIZE = 100;
/** The provider's clock and ours may differ by this much; looking a little too far back costs a page. */
const CLOCK_SKEW_MS = 5 * 60_000;

interface BatchReader {
  fetchPage(query: { limit: number; after_id?: string }): Promise<unknown>;
  readResults(batch: BatchReply): AsyncIterable<Uint8Array>;
}

/**
 * Batches that may be the attempt's, newest first. Anthropic's carry no label: those of its time and size are candidates.
 * Of one that has results the first lines tell. A stranger is dropped, and beside a proven match the unproven are, too.
 * Several that are left may each be the one: the caller must not guess.
 *
 * The list is read here and not by the SDK's pages, which take a reply that is no list for an empty one: "not found" is
 * what a second paid batch is made on.
 */
export async function findBatches(input: FindBatchesInput, reader: BatchReader): Promise<NativeBatch[]> {
  const candidates = await listCandidates(input, reader);
  const own: NativeBatch[] = [];
  const possible: NativeBatch[] = [];
  for (const candidate of candidates) {
    const proof = await prove(candidate, input.attemptToken, reader);
    if (proof === 'own') own.push(toNativeBatch(candidate));
    if (proof === 'unknown') possible.push(toNativeBatch(candidate));
  }
  return own.length > 0 ? own : possible;
}

/** Walks the list, newest first, to the first batch older than the attempt. */
async function listCandidates(input: FindBatchesInput, { fetchPage }: BatchReader): Promise<BatchReply[]> {
  const oldest = input.createdAfter.getTime() - CLOCK_SKEW_MS;
  const found: BatchReply[] = [];
  const cursors = new Set<string>();
  for (let after: string | undefined; ; ) {
    const reply = await fetchPage({ limit: PAGE_SIZE, ...(after !== undefined && { after_id: after }) });
    const page = BatchListReply.safeParse(reply).data;
    if (page === undefined) throw malformedReply(reply, 'a list of batches');
    found.push(...page.data.filter((entry) => isPossible(entry, input.itemCount, oldest)).map(toBatchReply));
    const last = ListedBatch.safeParse(page.data.at(-1)).data;
    if (!hasMore(page) || isOlder(last, oldest)) return found;
    const cursor = page.last_id || last?.id;
    if (cursor === undefined || cursors.has(cursor)) throw malformedReply(reply, 'a list that can be read to its end');
    cursors.add(cursor);
    after = cursor;
  }
}

async function prove(candidate: BatchReply, attemptToken: string, { readResults }: BatchReader): Promise<AttemptProof> {
  if (candidate.processing_status !== 'ended' || !hasResults(candidate)) return 'unknown';
  try {
    return await proveAttempt(readResults(candidate), attemptToken);
  } catch (error) {
    // Results may be unknown for a while to the node that answers: then they prove nothing.
    if (error instanceof ProviderError && error.code === 'not_found') return 'unknown';
    throw error;
  }
}

function hasMore({ data, has_more: said }: BatchListReply): boolean {
  return said ?? data.length >= PAGE_SIZE;
}

/** A count that cannot be read rules nothing out. */
function isPossible(entry: unknown, itemCount: number, oldest: number): boolean {
  const batch = ListedBatch.safeParse(entry).data;
  if (batch === undefined || isOlder(batch, oldest)) return false;
  const counts = readCounts(batch.request_counts);
  return counts === null || sumCounts(counts) === itemCount;
}

function isOlder(batch: { created_at?: unknown } | undefined, oldest: number): boolean {
  const createdAt = readTime(batch?.created_at);
  return createdAt !== null && createdAt.getTime() < oldest;
}

function toBatchReply(entry: unknown): BatchReply {
  const batch = BatchReply.safeParse(entry).data;
  if (batch === undefined) throw malformedReply(entry, 'a batch');
  return batch;
}
