import type { TenantAliases } from '../../contracts/model-alias.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentAliases } from '../presentation/tenant.ts';
import { requireTenant } from './known-tenant.ts';

/** A tenant's own aliases. Throws `not_found`. */
export async function getAliases(
  dependencies: Pick<ApiDependencies, 'db'>,
  { tenantId }: { readonly tenantId: string },
): Promise<TenantAliases> {
  const { aliases } = await requireTenant(dependencies, tenantId);
  return { tenant_id: tenantId, aliases: presentAliases(aliases) };
}
