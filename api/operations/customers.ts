import type { CreateCustomer, Customer, CustomerList, RenameAccount } from '../../contracts/account.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { findCustomer, insertCustomer, listCustomers, renameCustomer } from '../../db/customers.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentCustomer } from '../presentation/account.ts';
import { idTaken } from './create-tenant.ts';
import { requireTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';
import { type PageWish, pageById } from './page-by-id.ts';

type Dependencies = Pick<ApiDependencies, 'db'>;

/** Which customer of which tenant. */
export interface CustomerRequest {
  readonly tenantId: string;
  readonly customerId: string;
}

/** Throws `not_found` for an unknown tenant, or `conflict` for an id that is taken in it. */
export async function createCustomer(
  dependencies: Dependencies,
  request: {
    readonly principal: Principal;
    readonly tenantId: string;
    readonly wanted: CreateCustomer;
    readonly idempotency: IdempotentRequest | null;
  },
): Promise<KeptAnswer> {
  const { principal, tenantId, wanted, idempotency } = request;
  await requireTenant(dependencies, tenantId);
  const { customer_id: customerId = newId('customer'), name } = wanted;
  return inTransaction(dependencies.db, (client) =>
    once(client, idempotency, async () => {
      if (!(await insertCustomer(client, { tenantId, customerId, name }))) throw idTaken('customer', customerId);
      await recordAudit(client, { act: 'customer.created', actor: principal.keyId, tenantId, subject: customerId });
      const created = await findCustomer(client, tenantId, customerId);
      if (created === null) throw new Error('an inserted customer was not found');
      return { status: 201, body: JSON.stringify(presentCustomer(tenantId, created)) };
    }),
  );
}

/** Throws `not_found`. */
export async function getCustomer(
  dependencies: Dependencies,
  { tenantId, customerId }: CustomerRequest,
): Promise<Customer> {
  await requireTenant(dependencies, tenantId);
  const found = isStorable(customerId) ? await findCustomer(dependencies.db.pool, tenantId, customerId) : null;
  if (found === null) throw noSuchCustomer();
  return presentCustomer(tenantId, found);
}

/** A tenant's customers, by id. Throws `not_found`. */
export async function listTenantCustomers(
  dependencies: Dependencies,
  { tenantId, ...wish }: PageWish & { readonly tenantId: string },
): Promise<CustomerList> {
  await requireTenant(dependencies, tenantId);
  return pageById('customers', wish, (page) => listCustomers(dependencies.db.pool, tenantId, page), {
    idOf: ({ customerId }) => customerId,
    present: (customer) => presentCustomer(tenantId, customer),
  });
}

/** Gives it another name. Throws `not_found`. */
export async function updateCustomer(
  dependencies: Dependencies,
  request: CustomerRequest & { readonly principal: Principal; readonly change: RenameAccount },
): Promise<Customer> {
  const { principal, tenantId, customerId, change } = request;
  await requireTenant(dependencies, tenantId);
  if (!isStorable(customerId)) throw noSuchCustomer();
  await inTransaction(dependencies.db, async (client) => {
    if (!(await renameCustomer(client, { tenantId, customerId, name: change.name }))) throw noSuchCustomer();
    const details = { fields: ['name'] };
    await recordAudit(client, {
      act: 'customer.changed',
      actor: principal.keyId,
      tenantId,
      subject: customerId,
      details,
    });
  });
  return getCustomer(dependencies, { tenantId, customerId });
}

export function noSuchCustomer(): GatewayError {
  return new GatewayError('not_found', 'The tenant has no such customer.');
}
