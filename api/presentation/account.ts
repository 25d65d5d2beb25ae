import type { Customer as PublicCustomer, Project as PublicProject } from '../../contracts/account.ts';
import type { Customer } from '../../db/customers.ts';
import type { Project } from '../../db/projects.ts';
import { presentTime } from './time.ts';

export function presentSuspended(
  account: Pick<Customer, 'suspendedAt' | 'suspensionReason' | 'suspendedBy'>,
): Pick<PublicCustomer, 'suspended_at' | 'suspension_reason' | 'suspended_by'> {
  return {
    suspended_at: presentTime(account.suspendedAt),
    suspension_reason: account.suspensionReason,
    suspended_by: account.suspendedBy,
  };
}

export function presentProject(tenantId: string, { projectId, name, createdAt }: Project): PublicProject {
  return { project_id: projectId, tenant_id: tenantId, name, created_at: createdAt.toISOString() };
}

export function presentCustomer(tenantId: string, customer: Customer): PublicCustomer {
  return {
    customer_id: customer.customerId,
    tenant_id: tenantId,
    name: customer.name,
    ...presentSuspended(customer),
    created_at: customer.createdAt.toISOString(),
  };
}
