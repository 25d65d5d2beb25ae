import type { NewPrice } from '../../contracts/price-override.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { findPriceOverride, insertPriceOverride } from '../../db/price-overrides.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { PriceRow, TokenRates } from '../../domain/price-row.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentPrice } from '../presentation/override.ts';
import { requireProvider } from './known-provider.ts';
import { requireNamedTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';

export interface AddPriceRequest {
  readonly principal: Principal;
  readonly price: NewPrice;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Sets what a model costs, for one tenant or for all; jobs that were accepted keep their price. Throws `not_found` for
 * an unknown tenant, or `invalid_request` for a provider the gateway does not have.
 */
export async function addPrice(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>,
  { principal, price, idempotency }: AddPriceRequest,
): Promise<KeptAnswer> {
  const { db, catalogue, now } = dependencies;
  const { tenant_id: tenantId = null, reason } = price;
  requireProvider(catalogue, price.provider, 'provider');
  await requireNamedTenant(dependencies, tenantId);
  const override = { tenantId, price: toPriceRow(price, now()), reason, createdBy: principal.keyId };
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const added = await findPriceOverride(client, await insertPriceOverride(client, override));
      if (added === null) throw new Error('an inserted price was not found');
      return { status: 201, body: JSON.stringify(presentPrice(added)) };
    }),
  );
}

function toPriceRow(price: NewPrice, now: Date): PriceRow {
  const { provider, model, currency, kind, long_context: long } = price;
  return {
    provider,
    model,
    from: price.from ?? now.toISOString().slice(0, 10),
    currency,
    kind,
    standard: toRates(price.standard),
    batch: price.batch === null ? null : toRates(price.batch),
    batchBasis: 'override',
    ...(long !== undefined && {
      longContext: {
        aboveInputTokens: long.above_input_tokens,
        standard: toRates(long.standard),
        batch: long.batch === null ? null : toRates(long.batch),
      },
    }),
    maxOutputTokens: price.max_output_tokens,
  };
}

function toRates({ input, cached_input, cache_write, output, long_cache_write }: NewPrice['standard']): TokenRates {
  return {
    input,
    cachedInput: cached_input,
    cacheWrite: cache_write,
    ...(long_cache_write !== undefined && { longCacheWrite: long_cache_write }),
    output,
  };
}
