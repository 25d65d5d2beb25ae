import type { SuspensionList, SuspensionQuery } from '../../contracts/suspension.ts';
import { listSuspensions } from '../../db/suspensions.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentSuspension } from '../presentation/suspension.ts';
import { requireTenant } from './known-tenant.ts';

const MAX_ROWS = 1_000;

/** The scopes of a tenant that may submit nothing new, the newest first, at most a thousand. Throws `not_found`. */
export async function listTenantSuspensions(
  dependencies: Pick<ApiDependencies, 'db'>,
  { tenantId, lifted }: { readonly tenantId: string } & SuspensionQuery,
): Promise<SuspensionList> {
  await requireTenant(dependencies, tenantId);
  const filter = { includeLifted: lifted === 'include', limit: MAX_ROWS };
  const suspensions = await listSuspensions(dependencies.db.pool, tenantId, filter);
  return { data: suspensions.map(presentSuspension) };
}
