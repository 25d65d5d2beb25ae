import { z } from 'zod';
import type { Model, ModelList } from '../../contracts/model.ts';
import { findTenant } from '../../db/tenants.ts';
import { BATCH_CAPABILITIES } from '../../domain/batch-capabilities.ts';
import { DEFAULT_ALIASES } from '../../domain/model-alias.ts';
import { findPrice, PRICE_BOOK, PRICE_BOOK_VERSION } from '../../domain/price-book.ts';
import type { ModelKind, PriceRow } from '../../domain/price-row.ts';
import type { Principal } from '../../domain/principal.ts';
import { ENDPOINT_PROVIDERS, ENDPOINTS, type Endpoint } from '../../domain/provider.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { tenantScope } from './owned-job.ts';

const KIND_ENDPOINTS: { readonly [kind in ModelKind]: readonly Endpoint[] } = {
  chat: ENDPOINTS.filter((endpoint) => endpoint !== 'embeddings' && endpoint !== 'moderations'),
  embedding: ['embeddings'],
  moderation: ['moderations'],
};

/** Models with a batch price at a provider this gateway speaks to, and the aliases of the key's tenant. */
export async function listModels(
  { db, now }: Pick<ApiDependencies, 'db' | 'now'>,
  { principal }: { readonly principal: Principal },
): Promise<ModelList> {
  const tenant = await findTenant(db.pool, tenantScope(principal).tenantId);
  const own = Aliases.safeParse(tenant?.aliases).data ?? {};
  const at = now();
  const inForce = PRICE_BOOK.filter((row) => findPrice(row.provider, row.model, at) === row);
  return {
    data: inForce.flatMap(toModel),
    aliases: Object.entries({ ...DEFAULT_ALIASES, ...own }).map(([alias, model]) => ({ alias, model })),
    price_book_version: PRICE_BOOK_VERSION,
  };
}

const Aliases = z.record(z.string(), z.string());

function toModel({ provider, model, kind, batch, currency }: PriceRow): Model[] {
  if (batch === null || BATCH_CAPABILITIES[provider] === null) return [];
  const endpoints = KIND_ENDPOINTS[kind].filter((endpoint) => ENDPOINT_PROVIDERS[endpoint].includes(provider));
  const { input, cachedInput, cacheWrite, output } = batch;
  const price = { input, cached_input: cachedInput, cache_write: cacheWrite, output };
  return [{ model: `${provider}/${model}`, provider, endpoints, currency, batch_price_per_million: price }];
}
