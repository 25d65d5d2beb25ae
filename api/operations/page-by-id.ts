import { z } from 'zod';
import { isStorable } from '../../contracts/metadata.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';

/** Ids that callers chose are in the cursor, so it is bounded as those are. */
const AnyId = z.string().max(200).refine(isStorable);

export interface PageWish {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** One page of a list that is ordered by id. */
export async function pageById<Row, Shown>(
  list: string,
  { cursor, limit }: PageWish,
  read: (page: { readonly after: string | null; readonly limit: number }) => Promise<Row[]>,
  { idOf, present }: { readonly idOf: (row: Row) => string; readonly present: (row: Row) => Shown },
): Promise<{ data: Shown[]; next_cursor: string | null }> {
  const [after = null] = decodeCursor(list, [AnyId], cursor) ?? [];
  const rows = await read({ after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { data: page.map(present), next_cursor: last === undefined ? null : encodeCursor(list, [idOf(last)]) };
}
