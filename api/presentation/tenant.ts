import type { AliasesSet } from '../../contracts/model-alias.ts';
import type { Tenant as PublicTenant } from '../../contracts/tenant.ts';
import type { Tenant } from '../../db/tenants.ts';
import { formatAmount, parseNumeric } from '../../domain/money.ts';
import { presentSuspended } from './account.ts';

export function presentTenant(tenant: Tenant): PublicTenant {
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    currency: tenant.currency,
    time_zone: tenant.timeZone,
    allowed_models: tenant.allowedModels === null ? null : [...tenant.allowedModels],
    allowed_providers: tenant.allowedProviders === null ? null : [...tenant.allowedProviders],
    max_items_per_shard: tenant.maxItemsPerShard,
    overage_policy: tenant.overagePolicy,
    estimate_margin: formatAmount(parseNumeric(tenant.estimateMargin)),
    ...presentSuspended(tenant),
    created_at: tenant.createdAt.toISOString(),
  };
}

export function presentAliases(aliases: Tenant['aliases']): AliasesSet['aliases'] {
  const entries = Object.entries(aliases).map(([alias, targets]) => [alias, targets.map((target) => ({ ...target }))]);
  return Object.fromEntries(entries);
}
