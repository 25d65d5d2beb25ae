import { invalidRequest } from './errors.ts';

/** One page of a list, after the item with the id `after` (openai SDK types, CursorPage). */
export function pageOf<T extends { id: string }>(
  items: readonly T[],
  query: Readonly<Record<string, string>>,
  defaultLimit: number,
  mostLimit: number,
) {
  const limit = query['limit'] === undefined ? defaultLimit : Number(query['limit']);
  if (!Number.isInteger(limit) || limit < 1 || limit > mostLimit) {
    throw invalidRequest(`'limit' must be a whole number between 1 and ${mostLimit}.`, 'limit');
  }
  const { after } = query;
  const place = after === undefined ? -1 : items.findIndex((item) => item.id === after);
  if (after !== undefined && place === -1) throw invalidRequest(`No item found with id '${after}'.`, 'after');
  const data = items.slice(place + 1, place + 1 + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: place + 1 + limit < items.length,
  };
}
