import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** What to change of an allow-list: null allows all, absent stays as it is. Never empty. */
export interface AllowListChange {
  readonly models?: readonly string[] | null;
  readonly providers?: readonly Provider[] | null;
}

/** Columns of `tenants` and `api_keys` alike; the change's parameters are $1 to $4. */
const SET_ALLOW_LIST = `allowed_models = CASE WHEN $1 THEN $2 ELSE allowed_models END,
  allowed_providers = CASE WHEN $3 THEN $4 ELSE allowed_providers END`;

/** False for an unknown tenant. */
export async function setTenantAllowList(db: Queryable, tenantId: string, change: AllowListChange): Promise<boolean> {
  const { rowCount } = await db.query(`UPDATE tenants SET ${SET_ALLOW_LIST} WHERE tenant_id = $5`, [
    ...parametersOf(change),
    tenantId,
  ]);
  return rowCount === 1;
}

/** False for a key that is not the tenant's. */
export async function setKeyAllowList(
  db: Queryable,
  { tenantId, keyId }: { readonly tenantId: string; readonly keyId: string },
  change: AllowListChange,
): Promise<boolean> {
  const { rowCount } = await db.query(`UPDATE api_keys SET ${SET_ALLOW_LIST} WHERE tenant_id = $5 AND key_id = $6`, [
    ...parametersOf(change),
    tenantId,
    keyId,
  ]);
  return rowCount === 1;
}

function parametersOf({ models, providers }: AllowListChange): unknown[] {
  return [models !== undefined, models ?? null, providers !== undefined, providers ?? null];
}
