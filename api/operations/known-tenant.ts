import { isStorable } from '../../contracts/metadata.ts';
import { findTenant, type Tenant } from '../../db/tenants.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** The tenant of a path. Throws `not_found` for an unknown or malformed id. */
export async function requireTenant({ db }: Pick<ApiDependencies, 'db'>, tenantId: string): Promise<Tenant> {
  const tenant = await findStorable(db, tenantId);
  if (tenant === null) throw noSuchTenant();
  return tenant;
}

/** A tenant that a body names, where it names one. Throws `not_found` with the field. */
export async function requireNamedTenant({ db }: Pick<ApiDependencies, 'db'>, tenantId: string | null): Promise<void> {
  if (tenantId === null || (await findStorable(db, tenantId)) !== null) return;
  throw new GatewayError(
    'not_found',
    `There is no tenant "${tenantId}". Leave tenant_id out to speak of every tenant.`,
    {
      field: 'tenant_id',
    },
  );
}

export function noSuchTenant(): GatewayError {
  return new GatewayError('not_found', 'No such tenant.');
}

/** Postgres has no text that this refuses. */
async function findStorable(db: ApiDependencies['db'], tenantId: string): Promise<Tenant | null> {
  return isStorable(tenantId) ? findTenant(db.pool, tenantId) : null;
}
