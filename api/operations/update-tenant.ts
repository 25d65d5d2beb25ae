import type { ChangeAllowList } from '../../contracts/allow-list.ts';
import type { ChangeTenant, Tenant } from '../../contracts/tenant.ts';
import { type AllowListChange, setTenantAllowList } from '../../db/allow-lists.ts';
import { recordAudit } from '../../db/audit-log.ts';
import {
  isTimeZone,
  setEstimateMargin,
  setMaxItemsPerShard,
  setOveragePolicy,
  setTenantName,
  setTimeZone,
} from '../../db/tenants.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTenant } from '../presentation/tenant.ts';
import { requireProviders } from './known-provider.ts';
import { requireTenant } from './known-tenant.ts';

/** Throws `not_found`, or `invalid_request` for a provider the gateway does not have or an unknown time zone. */
export async function updateTenant(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue'>,
  {
    principal,
    tenantId,
    change,
  }: { readonly principal: Principal; readonly tenantId: string; readonly change: ChangeTenant },
): Promise<Tenant> {
  const { db } = dependencies;
  await requireTenant(dependencies, tenantId);
  const {
    name,
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
    if (name !== undefined) await setTenantName(client, tenantId, name);
    if (timeZone !== undefined) await setTimeZone(client, tenantId, timeZone);
    if (overagePolicy !== undefined) await setOveragePolicy(client, tenantId, overagePolicy);
    if (maxItemsPerShard !== undefined) await setMaxItemsPerShard(client, tenantId, maxItemsPerShard);
    if (estimateMargin !== undefined) await setEstimateMargin(client, tenantId, estimateMargin);
    const entry = { actor: principal.keyId, tenantId, subject: tenantId };
    const listed = Object.keys(lists);
    if (listed.length > 0) await recordAudit(client, { ...entry, act: 'allow_list.set', details: { fields: listed } });
    const fields = Object.keys(change).filter((field) => !listed.includes(field));
    if (fields.length > 0) await recordAudit(client, { ...entry, act: 'tenant.changed', details: { fields } });
  });
  return presentTenant(await requireTenant(dependencies, tenantId));
}

/** Throws `invalid_request`. */
export async function requireTimeZone({ db }: Pick<ApiDependencies, 'db'>, timeZone: string): Promise<void> {
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
