import type { FindBatchesInput, NativeBatch } from '../provider.ts';
import { malformedReply, parseReply } from '../reply-error.ts';
import { readTime, toNativeBatch } from './batch.ts';
import { ListedOperation, OperationList, OperationReply } from './wire.ts';

const PAGE_SIZE = 100;
/** The provider's clock and ours may differ by this much. */
const CLOCK_SKEW_MS = 5 * 60_000;

type FetchPage = (query: { pageSize: number; pageToken?: string }) => Promise<unknown>;

/**
 * Walks the whole list, whose order is not documented, for batches labelled with the attempt's token. The list is read
 * here and not by the SDK's pages, which take a reply that is no list for an empty one: "not found" is what a second paid
 * batch is made on.
 */
export async function findBatches(input: FindBatchesInput, fetchPage: FetchPage): Promise<NativeBatch[]> {
  const oldest = input.createdAfter.getTime() - CLOCK_SKEW_MS;
  const found: NativeBatch[] = [];
  const tokens = new Set<string>();
  for (let pageToken: string | undefined; ; ) {
    const reply = await fetchPage({ pageSize: PAGE_SIZE, ...(pageToken !== undefined && { pageToken }) });
    const page = parseReply(OperationList, reply, 'a list of batches');
    const wanted = (page.operations ?? []).filter((entry) => isWanted(entry, input, oldest));
    found.push(...wanted.map((entry) => toNativeBatch(parseReply(OperationReply, entry, 'a batch'))));
    if (!page.nextPageToken) return found.sort(newestFirst);
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
