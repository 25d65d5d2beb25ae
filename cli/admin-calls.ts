import { randomUUID } from 'node:crypto';
import type { ChangeAllowList } from '../contracts/allow-list.ts';
import { ApiKey } from '../contracts/api-key.ts';
import { BudgetList, type SetBudget } from '../contracts/budget.ts';
import { CapabilityOverride, CapabilityOverrideList, type NewCapability } from '../contracts/capability-override.ts';
import { AliasesSet, TenantAliases } from '../contracts/model-alias.ts';
import { PriceOverride, PriceOverrideList } from '../contracts/price-override.ts';
import { Suspension, SuspensionList } from '../contracts/suspension.ts';
import { type ChangeTenant, Tenant } from '../contracts/tenant.ts';
import type { Client, Query } from './client.ts';
import { pathSegment } from './gateway.ts';
import { identityCalls } from './identity-calls.ts';
import { retentionCalls } from './retention-calls.ts';

const PRICES = '/v1/admin/prices';
const CAPABILITIES = '/v1/admin/capabilities';

/** The calls of a gateway admin's key. What comes from a file is sent as it is: the gateway knows what is wrong with it. */
export function adminCalls(client: Client) {
  return {
    ...identityCalls(client),
    ...retentionCalls(client),
    getAliases: (tenantId: string) => client.get(`${tenantPath(tenantId)}/aliases`, TenantAliases),
    setAliases: (tenantId: string, aliases: unknown) =>
      client.send('PUT', `${tenantPath(tenantId)}/aliases`, AliasesSet, { json: { aliases } }),
    getTenant: (tenantId: string) => client.get(tenantPath(tenantId), Tenant),
    updateTenant: (tenantId: string, change: ChangeTenant) =>
      client.send('PATCH', tenantPath(tenantId), Tenant, { json: change }),
    listSuspensions: (tenantId: string, query: Query) =>
      client.get(`${tenantPath(tenantId)}/suspensions`, SuspensionList, query),
    liftSuspension: (tenantId: string, suspensionId: string, reason: string) =>
      client.send('POST', `${tenantPath(tenantId)}/suspensions/${pathSegment(suspensionId)}/lift`, Suspension, {
        json: { reason },
        idempotencyKey: randomUUID(),
      }),
    updateKey: (tenantId: string, keyId: string, change: ChangeAllowList) =>
      client.send('PATCH', `${tenantPath(tenantId)}/keys/${pathSegment(keyId)}`, ApiKey, { json: change }),
    listBudgets: (tenantId: string) => client.get(`${tenantPath(tenantId)}/budgets`, BudgetList),
    setBudget: (tenantId: string, budget: SetBudget) =>
      client.send('PUT', `${tenantPath(tenantId)}/budgets`, BudgetList, { json: budget }),
    listPrices: (query: Query) => client.get(PRICES, PriceOverrideList, query),
    addPrice: (price: unknown) =>
      client.send('POST', PRICES, PriceOverride, { json: price, idempotencyKey: randomUUID() }),
    withdrawPrice: (overrideId: string) => client.send('DELETE', `${PRICES}/${pathSegment(overrideId)}`, PriceOverride),
    listCapabilities: (query: Query) => client.get(CAPABILITIES, CapabilityOverrideList, query),
    addCapability: (capability: NewCapability) =>
      client.send('POST', CAPABILITIES, CapabilityOverride, { json: capability, idempotencyKey: randomUUID() }),
    withdrawCapability: (overrideId: string) =>
      client.send('DELETE', `${CAPABILITIES}/${pathSegment(overrideId)}`, CapabilityOverride),
  };
}

export type AdminCalls = ReturnType<typeof adminCalls>;

function tenantPath(tenantId: string): string {
  return `/v1/admin/tenants/${pathSegment(tenantId)}`;
}
