import type { OverrideQuery } from '../../contracts/override.ts';
import type { OverrideFilter, OverridePage, OverrideRecord } from '../../db/override-rows.ts';
import { CursorId, decodeCursor, encodeCursor } from '../cursor.ts';

/** One page of a list of overrides, newest first. */
export async function pageOverrides<Listed extends OverrideRecord, Shown>(
  list: string,
  { tenant_id: tenantId, provider, withdrawn, cursor, limit }: OverrideQuery,
  read: (filter: OverrideFilter, page: OverridePage) => Promise<Listed[]>,
  present: (override: Listed) => Shown,
): Promise<{ data: Shown[]; next_cursor: string | null }> {
  const [after = null] = decodeCursor(list, [CursorId], cursor) ?? [];
  const filter = { tenantId, provider, includeWithdrawn: withdrawn === 'include' };
  const overrides = await read(filter, { after, limit: limit + 1 });
  const page = overrides.slice(0, limit);
  const last = overrides.length > limit ? page.at(-1) : undefined;
  return { data: page.map(present), next_cursor: last === undefined ? null : encodeCursor(list, [last.overrideId]) };
}
