import { invalidRequest } from './errors.ts';

const DEFAULT_LIMIT = 20;
const MOST_LISTED = 1_000;

/**
 * One page of a list: what follows the item `after_id`, or what comes right before `before_id` (@anthropic-ai/sdk,
 * Page).
 */
export function pageOf<T extends { id: string }>(items: readonly T[], query: Readonly<Record<string, string>>) {
  const limit = query['limit'] === undefined ? DEFAULT_LIMIT : Number(query['limit']);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
    throw invalidRequest(`limit: Input should be a whole number between 1 and ${MOST_LISTED}`);
  }
  const { after_id: after, before_id: before } = query;
  if (after !== undefined && before !== undefined) {
    throw invalidRequest('after_id: may not be given together with before_id');
  }
  const placeOf = (name: string, id: string) => {
    const place = items.findIndex((item) => item.id === id);
    if (place === -1) throw invalidRequest(`${name}: nothing found with the id ${id}`);
    return place;
  };
  const end = before === undefined ? items.length : placeOf('before_id', before);
  const start = after === undefined ? 0 : placeOf('after_id', after) + 1;
  const data = before === undefined ? items.slice(start, start + limit) : items.slice(Math.max(end - limit, 0), end);
  return {
    data,
    has_more: data.length < end - start,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
