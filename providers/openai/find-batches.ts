import { isAttemptToken } from '../../domain/attempt-token.ts';
import type { FindBatchesInput, LabelledBatch, NativeBatch } from '../provider.ts';
import type { ProviderError } from '../provider-error.ts';
import { malformedReply } from '../reply-error.ts';
import { readTime, toNativeBatch } from './batch.ts';
import { BatchListReply, BatchReply, ListedBatch } from './wire.ts';

/** Where a batch carries its attempt's token (at most 64 characters of key, 512 of value). */
export const ATTEMPT_TOKEN_KEY = 'batchgate_attempt';

const PAGE_SIZE = 100;
/** The provider's clock and ours may differ by this much; looking a little too far back costs a page. */
const CLOCK_SKEW_MS = 5 * 60_000;

type FetchPage = (query: { limit: number; after?: string }) => Promise<unknown>;

/**
 * Batches of the attempt. A garbled reply is an error and never an empty list: "not found" is what a second paid batch is
 * made on.
 */
export async function findBatches(input: FindBatchesInput, fetchPage: FetchPage): Promise<NativeBatch[]> {
  const oldest = input.createdAfter.getTime() - CLOCK_SKEW_MS;
  const found: NativeBatch[] = [];
  for await (const entry of walkList(oldest, fetchPage)) {
    if (isWanted(entry, input, oldest)) found.push(toFoundBatch(entry));
  }
  return found;
}

/** Batches that carry a token of some attempt; one that cannot be read is passed over. */
export async function listLabelled(createdAfter: Date, fetchPage: FetchPage): Promise<LabelledBatch[]> {
  const labelled: LabelledBatch[] = [];
  for await (const entry of walkList(createdAfter.getTime() - CLOCK_SKEW_MS, fetchPage)) {
    const attemptToken = ListedBatch.safeParse(entry).data?.metadata?.[ATTEMPT_TOKEN_KEY];
    const batch = BatchReply.safeParse(entry).data;
    if (typeof attemptToken !== 'string' || !isAttemptToken(attemptToken) || batch === undefined) continue;
    labelled.push({ attemptToken, batch: toNativeBatch(batch) });
  }
  return labelled;
}

/**
 * The list, newest first, to the first batch older than `oldest`. It is read here and not by the SDK's pages, which take
 * a reply that is no list for an empty one.
 */
async function* walkList(oldest: number, fetchPage: FetchPage): AsyncGenerator<unknown> {
  const cursors = new Set<string>();
  for (let after: string | undefined; ; ) {
    const reply = await fetchPage({ limit: PAGE_SIZE, ...(after !== undefined && { after }) });
    const page = BatchListReply.safeParse(reply).data;
    if (page === undefined) throw malformedReply(reply, 'a list of batches');
    yield* page.data;
    const last = ListedBatch.safeParse(page.data.at(-1)).data;
    if (!hasMore(page) || isOlder(last, oldest)) return;
    if (last === undefined || cursors.has(last.id)) throw unendingList(reply);
    cursors.add(last.id);
    after = last.id;
  }
}

function hasMore({ data, has_more: said }: BatchListReply): boolean {
  return said ?? data.length >= PAGE_SIZE;
}

/** A label decides alone. One input file may be used again after a refusal for want of capacity, so age counts with it. */
function isWanted(entry: unknown, { attemptToken, inputFileId }: FindBatchesInput, oldest: number): boolean {
  const batch = ListedBatch.safeParse(entry).data;
  if (batch === undefined) return false;
  const token = batch.metadata?.[ATTEMPT_TOKEN_KEY];
  if (typeof token === 'string') return token === attemptToken;
  return inputFileId !== null && batch.input_file_id === inputFileId && !isOlder(batch, oldest);
}

function isOlder(batch: { created_at?: unknown } | undefined, oldest: number): boolean {
  const createdAt = readTime(batch?.created_at);
  return createdAt !== null && createdAt.getTime() < oldest;
}

function toFoundBatch(entry: unknown): NativeBatch {
  const batch = BatchReply.safeParse(entry).data;
  if (batch === undefined) throw malformedReply(entry, 'a batch');
  return toNativeBatch(batch);
}

function unendingList(reply: unknown): ProviderError {
  return malformedReply(reply, 'a list that can be read to its end');
}
