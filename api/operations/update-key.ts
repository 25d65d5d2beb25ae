import type { ChangeAllowList } from '../../contracts/allow-list.ts';
import type { ApiKey } from '../../contracts/api-key.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { setKeyAllowList } from '../../db/allow-lists.ts';
import { findTenantKey } from '../../db/tenant-keys.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentKey } from '../presentation/api-key.ts';
import { requireTenant } from './known-tenant.ts';
import { toAllowListChange } from './update-tenant.ts';

/**
 * What the jobs of one key may use, within what its tenant may. Throws `not_found` for an unknown tenant and for a key
 * that is not the tenant's, or `invalid_request` for a provider the gateway does not have.
 */
export async function updateKey(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue'>,
  { change, ...id }: { readonly tenantId: string; readonly keyId: string; readonly change: ChangeAllowList },
): Promise<ApiKey> {
  const { pool } = dependencies.db;
  await requireTenant(dependencies, id.tenantId);
  if (!isStorable(id.keyId)) throw noSuchKey();
  await setKeyAllowList(pool, id, toAllowListChange(dependencies, change));
  const key = await findTenantKey(pool, id.tenantId, id.keyId);
  if (key === null) throw noSuchKey();
  return presentKey(key);
}

function noSuchKey(): GatewayError {
  return new GatewayError('not_found', 'The tenant has no such key.');
}
