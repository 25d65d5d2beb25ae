import type { ChangeAllowList } from '../../contracts/allow-list.ts';
import type { ChangeTenant, Tenant } from '../../contracts/tenant.ts';
import { type AllowListChange, setTenantAllowList } from '../../db/allow-lists.ts';
import { isTimeZone, setEstimateMargin, setMaxItemsPerShard, setOveragePolicy, setTimeZone } from '../../db/tenants.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTenant } from '../presentation/tenant.ts';
import { requireProviders } from './known-provider.ts';
import { requireTenant } from './known-tenant.ts';

/** Throws `not_found`, or `invalid_request` for a provider the gateway does not have or an unknown time zone. */
export async function updateTenant(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue'>,
  { tenantId, change }: { readonly tenantId: string; readonly change: ChangeTenant },
): Promise<Tenant> {
  const { db } = dependencies;
  await requireTenant(dependencies, tenantId);
  const {
    time_zone: timeZone,
    max_items_per_shard: maxItemsPerShard,
    overage_policy: overagePolicy,
    estimate_margin: estimateMargin,
    ...lists
  } = change;
  const allowList = toAllowListChange(dependencies, lists);
  if (timeZone !== undefined) await requireTimeZone(dependencies, timeZone);
  await inTransaction(db, async (client) => {
    await setTenantAllowList(client, tenantId, allowList);
    if (timeZone !== undefined) await setTimeZone(client, tenantId, timeZone);
    if (overagePolicy !== undefined) await setOveragePolicy(client, tenantId, overagePolicy);
    if (maxItemsPerShard !== undefined) await setMaxItemsPerShard(client, tenantId, maxItemsPerShard);
    if (estimateMargin !== undefined) await setEstimateMargin(client, tenantId, estimateMargin);
  });
  return presentTenant(await requireTenant(dependencies, tenantId));
}

async function requireTimeZone({ db }: Pick<ApiDependencies, 'db'>, timeZone: string): Promise<void> {
  if (await isTimeZone(db.pool, timeZone)) return;
  const message = `"${timeZone}" is no time zone of the IANA list, such as "Europe/Berlin" or "UTC".`;
  throw new GatewayError('invalid_request', message, { field: 'time_zone' });
}

export function toAllowListChange(
  { catalogue }: Pick<ApiDependencies, 'catalogue'>,
  { allowed_models: models, allowed_providers: providers }: ChangeAllowList,
): AllowListChange {
  requireProviders(catalogue, providers ?? [], 'allowed_providers');
  return { ...(models !== undefined && { models }), ...(providers !== undefined && { providers }) };
}
