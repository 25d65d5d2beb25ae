import type { Model, ModelList } from '../../contracts/model.ts';
import { loadCatalogue } from '../../db/catalogue-overrides.ts';
import { findTenant } from '../../db/tenants.ts';
import type { Catalogue } from '../../domain/catalogue.ts';
import { DEFAULT_ALIASES } from '../../domain/default-aliases.ts';
import { type AliasTarget, formatTarget } from '../../domain/model-alias.ts';
import type { ModelKind, PriceRow, TokenRates } from '../../domain/price-row.ts';
import type { Principal } from '../../domain/principal.ts';
import { ENDPOINT_DIALECTS, ENDPOINTS, type Endpoint } from '../../domain/provider.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { tenantScope } from './owned-job.ts';

const KIND_ENDPOINTS: { readonly [kind in ModelKind]: readonly Endpoint[] } = {
  chat: ENDPOINTS.filter((endpoint) => endpoint !== 'embeddings' && endpoint !== 'moderations'),
  embedding: ['embeddings'],
  moderation: ['moderations'],
};

/** Models that batches can run at a known price, and the aliases of the key's tenant, as they are for that tenant. */
export async function listModels(
  { db, catalogue: base, now }: Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>,
  { principal }: { readonly principal: Principal },
): Promise<ModelList> {
  const { tenantId } = tenantScope(principal);
  const tenant = await findTenant(db.pool, tenantId);
  const catalogue = await loadCatalogue(db.pool, base, tenantId);
  const { prices } = catalogue;
  const at = now();
  const inForce = prices.rows.filter((row) => prices.find(row.provider, row.model, at) === row);
  return {
    data: inForce.flatMap((row) => toModel(row, catalogue)),
    aliases: Object.entries({ ...DEFAULT_ALIASES, ...tenant?.aliases }).map(toAlias),
    price_book_version: prices.version,
  };
}

function toAlias([alias, targets]: readonly [string, readonly AliasTarget[]]): ModelList['aliases'][number] {
  const [first] = targets;
  return {
    alias,
    model: first === undefined ? null : formatTarget(first),
    targets: targets.map(({ provider, model, region, weight }) => ({ provider, model, region, weight })),
  };
}

function toModel(row: PriceRow, catalogue: Catalogue): Model[] {
  const { provider, model, kind, batch, longContext, currency } = row;
  const endpoints = KIND_ENDPOINTS[kind].filter((endpoint) => runs(catalogue, row, endpoint));
  if (batch === null || endpoints.length === 0) return [];
  const tier = longContext?.batch ?? null;
  return [
    {
      model: formatTarget({ provider, model }),
      provider,
      kind,
      endpoints,
      currency,
      batch_price_per_million: toRates(batch),
      long_context:
        longContext === undefined || tier === null
          ? null
          : { above_input_tokens: longContext.aboveInputTokens, batch_price_per_million: toRates(tier) },
      batch_price: row.batchBasis,
      max_output_tokens: row.maxOutputTokens,
      note: row.note ?? null,
    },
  ];
}

function runs(catalogue: Catalogue, { provider, model }: PriceRow, endpoint: Endpoint): boolean {
  const profile = catalogue.findProfile(provider);
  if (profile === null || !ENDPOINT_DIALECTS[endpoint].includes(profile.dialect)) return false;
  return catalogue.findCapability(provider, endpoint, model)?.isBatchEligible ?? false;
}

function toRates({
  input,
  cachedInput,
  cacheWrite,
  longCacheWrite,
  output,
}: TokenRates): Model['batch_price_per_million'] {
  return {
    input,
    cached_input: cachedInput,
    cache_write: cacheWrite,
    ...(longCacheWrite !== undefined && { long_cache_write: longCacheWrite }),
    output,
  };
}
