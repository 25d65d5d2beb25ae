import type { AliasesSet, SetAliases } from '../../contracts/model-alias.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { loadCatalogue } from '../../db/catalogue-overrides.ts';
import { setAliases } from '../../db/tenants.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Catalogue } from '../../domain/catalogue.ts';
import { type AliasTarget, formatTarget, type ModelAliases } from '../../domain/model-alias.ts';
import type { Principal } from '../../domain/principal.ts';
import { ENDPOINTS } from '../../domain/provider.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentAliases } from '../presentation/tenant.ts';
import { requireProvider } from './known-provider.ts';
import { noSuchTenant, requireTenant } from './known-tenant.ts';

/**
 * Replaces all of a tenant's aliases. A target that no job can be given now is kept with a warning: its price may come
 * later. Throws `not_found`, or `invalid_request` for a provider the gateway does not have.
 */
export async function replaceAliases(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>,
  { principal, tenantId, aliases: given }: SetAliases & { readonly principal: Principal; readonly tenantId: string },
): Promise<AliasesSet> {
  const { db, catalogue: base, now } = dependencies;
  const aliases = toAliases(given);
  const { currency } = await requireTenant(dependencies, tenantId);
  const catalogue = await loadCatalogue(db.pool, base, tenantId);
  const at = now();
  const warnings = targetsOf(aliases).flatMap(({ target, field }) =>
    warningsAbout(catalogue, target, { field, currency, at }),
  );
  await inTransaction(db, async (client) => {
    if (!(await setAliases(client, tenantId, aliases))) throw noSuchTenant();
    const details = { aliases: Object.keys(aliases).length };
    await recordAudit(client, { act: 'aliases.set', actor: principal.keyId, tenantId, subject: tenantId, details });
  });
  return { tenant_id: tenantId, aliases: presentAliases(aliases), warnings };
}

function toAliases(given: SetAliases['aliases']): ModelAliases {
  const entries = Object.entries(given).map(([alias, targets]) => [
    alias,
    targets.map(({ provider, model, region = null, weight = null }) => ({ provider, model, region, weight })),
  ]);
  return Object.fromEntries(entries);
}

function targetsOf(aliases: ModelAliases): { readonly target: AliasTarget; readonly field: string }[] {
  return Object.entries(aliases).flatMap(([alias, targets]) =>
    targets.map((target, index) => ({ target, field: `aliases.${alias}[${index}]` })),
  );
}

function warningsAbout(
  catalogue: Catalogue,
  target: AliasTarget,
  { field, currency, at }: { readonly field: string; readonly currency: string; readonly at: Date },
): AliasesSet['warnings'] {
  const { provider, model } = target;
  requireProvider(catalogue, provider, `${field}.provider`);
  if (!ENDPOINTS.some((endpoint) => catalogue.findCapability(provider, endpoint, model)?.isBatchEligible)) {
    const message = `${formatTarget(target)} does not run in batch mode, so no job is given this target.`;
    return [{ error: 'endpoint_not_supported', message, field }];
  }
  const price = catalogue.prices.find(provider, model, at);
  if (price !== null && price.batch !== null && price.currency === currency) return [];
  const message = `No batch price in ${currency} is known for ${formatTarget(target)}, so no job is given this target. Set one with POST /v1/admin/prices.`;
  return [{ error: 'price_unknown', message, field }];
}
