import { isAttemptToken } from '../../domain/attempt-token.ts';
import type { FindBatchesInput, LabelledBatch, NativeBatch } from '../provider.ts';
import { malformedReply, parseReply } from '../reply-error.ts';
import { readTime, toNativeBatch } from './batch.ts';
import { ListedOperation, OperationList, OperationReply } from './wire.ts';

const PAGE_SIZE = 100;
/** The provider's clock and ours may differ by this much. */
const CLOCK_SKEW_MS = 5 * 60_000;

type FetchPage = (query: { pageSize: number; pageToken?: string }) => Promise<unknown>;

/**
 * Batches labelled with the attempt's token, or made of its input file. A garbled reply is an error and never an empty
 * list: "not found" is what a second paid batch is made on.
 */
export async function findBatches(input: FindBatchesInput, fetchPage: FetchPage): Promise<NativeBatch[]> {
  const oldest = input.createdAfter.getTime() - CLOCK_SKEW_MS;
  const found: NativeBatch[] = [];
  for await (const entry of walkList(fetchPage)) {
    if (isWanted(entry, input, oldest)) found.push(toNativeBatch(parseReply(OperationReply, entry, 'a batch')));
  }
  return found.sort(newestFirst);
}

/** Batches that carry a token of some attempt; one that cannot be read is passed over. */
export async function listLabelled(createdAfter: Date, fetchPage: FetchPage): Promise<LabelledBatch[]> {
  const oldest = createdAfter.getTime() - CLOCK_SKEW_MS;
  const labelled: LabelledBatch[] = [];
  for await (const entry of walkList(fetchPage)) {
    const metadata = ListedOperation.safeParse(entry).data?.metadata;
    const operation = OperationReply.safeParse(entry).data;
    const attemptToken = metadata?.displayName ?? '';
    const createdAt = readTime(metadata?.createTime);
    if (!isAttemptToken(attemptToken) || operation === undefined) continue;
    if (createdAt === null || createdAt.getTime() >= oldest)
      labelled.push({ attemptToken, batch: toNativeBatch(operation) });
  }
  return labelled.sort((left, right) => newestFirst(left.batch, right.batch));
}

/**
 * The whole list, whose order is not documented. It is read here and not by the SDK's pages, which take a reply that is
 * no list for an empty one.
 */
async function* walkList(fetchPage: FetchPage): AsyncGenerator<unknown> {
  const tokens = new Set<string>();
  for (let pageToken: string | undefined; ; ) {
    const reply = await fetchPage({ pageSize: PAGE_SIZE, ...(pageToken !== undefined && { pageToken }) });
    const page = parseReply(OperationList, reply, 'a list of batches');
    yield* page.operations ?? [];
    if (!page.nextPageToken) return;
    if (tokens.has(page.nextPageToken)) throw malformedReply(null, 'a list that can be read to its end');
    tokens.add(page.nextPageToken);
    pageToken = page.nextPageToken;
  }
}

/** A label decides alone. One input file may be used again after a refusal for want of capacity, so age counts with it. */
function isWanted(entry: unknown, { attemptToken, inputFileId }: FindBatchesInput, oldest: number): boolean {
  const metadata = ListedOperation.safeParse(entry).data?.metadata;
  if (metadata === undefined) return false;
  if (metadata.displayName) return metadata.displayName === attemptToken;
  const createdAt = readTime(metadata.createTime);
  const isOlder = createdAt !== null && createdAt.getTime() < oldest;
  return inputFileId !== null && metadata.inputConfig?.fileName === inputFileId && !isOlder;
}

function newestFirst(left: NativeBatch, right: NativeBatch): number {
  return (right.createdAt?.getTime() ?? 0) - (left.createdAt?.getTime() ?? 0);
}
