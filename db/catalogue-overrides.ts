import type pg from 'pg';
import { type Catalogue, createCatalogue } from '../domain/catalogue.ts';
import type { PriceRow } from '../domain/price-row.ts';
import { listCapabilitiesInForce } from './capability-overrides.ts';
import { listPricesInForce, type PriceOverride } from './price-overrides.ts';

/**
 * The catalogue as it is for one tenant: the base with what admins said of every tenant and of this one. The tenant's own
 * word wins over what is said of all.
 */
export async function loadCatalogue(
  db: Pick<pg.ClientBase, 'query'>,
  base: Catalogue,
  tenantId: string,
): Promise<Catalogue> {
  const prices = await listPricesInForce(db, tenantId);
  const capabilities = await listCapabilitiesInForce(db, tenantId);
  if (prices.length === 0 && capabilities.length === 0) return base;
  return createCatalogue(base.profiles, { prices: decidingPrices(prices), capabilities });
}

/** From the first day of a tenant's own price on, later prices for every tenant no longer count for it. */
function decidingPrices(overrides: readonly PriceOverride[]): PriceRow[] {
  const own = overrides.filter(({ tenantId }) => tenantId !== null).map(({ price }) => price);
  const isHidden = ({ provider, model, from }: PriceRow) =>
    own.some((price) => price.provider === provider && price.model === model && price.from <= from);
  const common = overrides.filter(({ tenantId, price }) => tenantId === null && !isHidden(price));
  return [...common.map(({ price }) => price), ...own];
}
