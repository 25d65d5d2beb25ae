import type { ApiKeyList } from '../../contracts/api-key.ts';
import { listTenantKeys } from '../../db/tenant-keys.ts';
import { CursorId, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentKey } from '../presentation/api-key.ts';
import { requireTenant } from './known-tenant.ts';

const LIST = 'keys';

/** A tenant's keys without their secrets, oldest first. Throws `not_found`. */
export async function listKeys(
  dependencies: Pick<ApiDependencies, 'db'>,
  {
    tenantId,
    cursor,
    limit,
  }: { readonly tenantId: string; readonly cursor?: string | undefined; readonly limit: number },
): Promise<ApiKeyList> {
  await requireTenant(dependencies, tenantId);
  const [after = null] = decodeCursor(LIST, [CursorId], cursor) ?? [];
  const keys = await listTenantKeys(dependencies.db.pool, tenantId, { after, limit: limit + 1 });
  const page = keys.slice(0, limit);
  const last = keys.length > limit ? page.at(-1) : undefined;
  return { data: page.map(presentKey), next_cursor: last === undefined ? null : encodeCursor(LIST, [last.keyId]) };
}
