import type { ChangeAllowList } from '../../contracts/allow-list.ts';
import type { Tenant } from '../../contracts/tenant.ts';
import { type AllowListChange, setTenantAllowList } from '../../db/allow-lists.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTenant } from '../presentation/tenant.ts';
import { requireProviders } from './known-provider.ts';
import { requireTenant } from './known-tenant.ts';

/** What a tenant's jobs may use. Throws `not_found`, or `invalid_request` for a provider the gateway does not have. */
export async function updateTenant(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue'>,
  { tenantId, change }: { readonly tenantId: string; readonly change: ChangeAllowList },
): Promise<Tenant> {
  await requireTenant(dependencies, tenantId);
  await setTenantAllowList(dependencies.db.pool, tenantId, toAllowListChange(dependencies, change));
  return presentTenant(await requireTenant(dependencies, tenantId));
}

export function toAllowListChange(
  { catalogue }: Pick<ApiDependencies, 'catalogue'>,
  { allowed_models: models, allowed_providers: providers }: ChangeAllowList,
): AllowListChange {
  requireProviders(catalogue, providers ?? [], 'allowed_providers');
  return { ...(models !== undefined && { models }), ...(providers !== undefined && { providers }) };
}
