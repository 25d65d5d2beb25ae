import type { Customer, SuspendAccount } from '../../contracts/account.ts';
import { isStorable } from '../../contracts/metadata.ts';
import type { Tenant } from '../../contracts/tenant.ts';
import { resumeAccount, type SuspendedAccount, suspendAccount } from '../../db/account-suspensions.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type CustomerRequest, getCustomer, noSuchCustomer } from './customers.ts';
import { getTenant } from './get-tenant.ts';
import { noSuchTenant, requireTenant } from './known-tenant.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now'>;

interface Acting {
  readonly principal: Principal;
}

/**
 * Nothing new starts for the tenant from now on, whoever asks; what runs goes on and settles. Suspended again, it keeps its
 * time and takes the new reason. Throws `not_found`.
 */
export async function suspendTenant(
  dependencies: Dependencies,
  { tenantId, ...request }: SuspendAccount & Acting & { readonly tenantId: string },
): Promise<Tenant> {
  await requireTenant(dependencies, tenantId);
  await suspend(dependencies, { tenantId, customerId: null }, request);
  return getTenant(dependencies, { tenantId });
}

/** One that is not suspended stays as it is. Throws `not_found`. */
export async function resumeTenant(
  dependencies: Dependencies,
  { tenantId, principal }: Acting & { readonly tenantId: string },
): Promise<Tenant> {
  await requireTenant(dependencies, tenantId);
  await resume(dependencies, { tenantId, customerId: null }, principal);
  return getTenant(dependencies, { tenantId });
}

/** As `suspendTenant`, for work of one customer, whichever key of the tenant asks for it. */
export async function suspendCustomer(
  dependencies: Dependencies,
  { tenantId, customerId, ...request }: SuspendAccount & Acting & CustomerRequest,
): Promise<Customer> {
  await requireTenant(dependencies, tenantId);
  await suspend(dependencies, { tenantId, customerId }, request);
  return getCustomer(dependencies, { tenantId, customerId });
}

/** As `resumeTenant`. */
export async function resumeCustomer(
  dependencies: Dependencies,
  { tenantId, customerId, principal }: Acting & CustomerRequest,
): Promise<Customer> {
  await getCustomer(dependencies, { tenantId, customerId });
  await resume(dependencies, { tenantId, customerId }, principal);
  return getCustomer(dependencies, { tenantId, customerId });
}

async function suspend(
  { db, now }: Dependencies,
  account: SuspendedAccount,
  { principal, reason }: SuspendAccount & Acting,
): Promise<void> {
  const { tenantId, customerId } = account;
  if (!isStorable(customerId ?? '')) throw noSuchCustomer();
  await inTransaction(db, async (client) => {
    if (!(await suspendAccount(client, account, { reason, by: principal.keyId, now: now() })))
      throw customerId === null ? noSuchTenant() : noSuchCustomer();
    const act = customerId === null ? 'tenant.suspended' : 'customer.suspended';
    await recordAudit(client, { act, actor: principal.keyId, tenantId, subject: customerId ?? tenantId });
  });
}

async function resume({ db }: Dependencies, account: SuspendedAccount, principal: Principal): Promise<void> {
  const { tenantId, customerId } = account;
  await inTransaction(db, async (client) => {
    if (!(await resumeAccount(client, account))) return;
    const act = customerId === null ? 'tenant.resumed' : 'customer.resumed';
    await recordAudit(client, { act, actor: principal.keyId, tenantId, subject: customerId ?? tenantId });
  });
}
