import type { CreateTenant, TenantList } from '../../contracts/tenant.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findTenant, insertTenant, listTenants } from '../../db/tenants.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTenant } from '../presentation/tenant.ts';
import { type KeptAnswer, once } from './once.ts';
import { type PageWish, pageById } from './page-by-id.ts';
import { requireTimeZone } from './update-tenant.ts';

export interface CreateTenantRequest {
  readonly principal: Principal;
  readonly tenant: CreateTenant;
  readonly idempotency: IdempotentRequest | null;
}

/** Throws `conflict` for an id that is taken, or `invalid_request` for an unknown time zone. */
export async function createTenant(
  dependencies: Pick<ApiDependencies, 'db'>,
  { principal, tenant, idempotency }: CreateTenantRequest,
): Promise<KeptAnswer> {
  const { tenant_id: tenantId = newId('tenant'), name, currency, time_zone: timeZone } = tenant;
  await requireTimeZone(dependencies, timeZone);
  return inTransaction(dependencies.db, (client) =>
    once(client, idempotency, async () => {
      if (!(await insertTenant(client, { tenantId, name, currency, timeZone }))) throw idTaken('tenant', tenantId);
      await recordAudit(client, { act: 'tenant.created', actor: principal.keyId, tenantId, subject: tenantId });
      const created = await findTenant(client, tenantId);
      if (created === null) throw new Error('an inserted tenant was not found');
      return { status: 201, body: JSON.stringify(presentTenant(created)) };
    }),
  );
}

export function idTaken(what: 'tenant' | 'project' | 'customer', id: string): GatewayError {
  const message = `There is a ${what} "${id}" already. Choose another id, or leave it out to have one made.`;
  return new GatewayError('conflict', message, { field: `${what}_id` });
}

/** All tenants, by id. */
export async function listAllTenants({ db }: Pick<ApiDependencies, 'db'>, wish: PageWish): Promise<TenantList> {
  return pageById('tenants', wish, (page) => listTenants(db.pool, page), {
    idOf: ({ tenantId }) => tenantId,
    present: presentTenant,
  });
}
