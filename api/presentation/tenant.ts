import type { AliasesSet } from '../../contracts/model-alias.ts';
import type { Tenant as PublicTenant } from '../../contracts/tenant.ts';
import type { Tenant } from '../../db/tenants.ts';
import { presentTime } from './time.ts';

export function presentTenant(tenant: Tenant): PublicTenant {
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    currency: tenant.currency,
    allowed_models: tenant.allowedModels === null ? null : [...tenant.allowedModels],
    allowed_providers: tenant.allowedProviders === null ? null : [...tenant.allowedProviders],
    suspended_at: presentTime(tenant.suspendedAt),
  };
}

export function presentAliases(aliases: Tenant['aliases']): AliasesSet['aliases'] {
  const entries = Object.entries(aliases).map(([alias, targets]) => [alias, targets.map((target) => ({ ...target }))]);
  return Object.fromEntries(entries);
}
