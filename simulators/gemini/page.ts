import { refusal } from './errors.ts';

interface PageQuery {
  pageSize?: string;
  pageToken?: string;
}

/**
 * One page of a list whose newest comes first: `pageSize` is capped, `pageToken` says after which item to go on
 * (Google API standard methods).
 */
export function pageOf<T extends { seq: number }>(
  newestFirst: readonly T[],
  query: PageQuery,
  sizes: { usual: number; most: number },
): { items: T[]; nextPageToken: string | undefined } {
  const asked = query.pageSize === undefined || query.pageSize === '' ? 0 : Number(query.pageSize);
  if (!Number.isInteger(asked) || asked < 0) throw refusal('INVALID_ARGUMENT', 'page_size must not be negative.');
  const size = Math.min(asked === 0 ? sizes.usual : asked, sizes.most);
  const before = query.pageToken ? seqOf(query.pageToken) : Number.POSITIVE_INFINITY;
  const left = newestFirst.filter((item) => item.seq < before);
  const items = left.slice(0, size);
  const last = items.at(-1);
  return { items, nextPageToken: left.length > size && last !== undefined ? tokenOf(last.seq) : undefined };
}

function tokenOf(seq: number): string {
  return Buffer.from(`after:${seq}`).toString('base64url');
}

function seqOf(token: string): number {
  const seq = /^after:(\d+)$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (seq === undefined) throw refusal('INVALID_ARGUMENT', 'Invalid page token.');
  return Number(seq);
}
