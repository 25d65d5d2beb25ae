import type { Tenant } from '../../contracts/tenant.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTenant } from '../presentation/tenant.ts';
import { requireTenant } from './known-tenant.ts';

/** Throws `not_found`. */
export async function getTenant(
  dependencies: Pick<ApiDependencies, 'db'>,
  { tenantId }: { readonly tenantId: string },
): Promise<Tenant> {
  return presentTenant(await requireTenant(dependencies, tenantId));
}
