import type { OverrideQuery } from '../../contracts/override.ts';
import type { PriceOverrideList } from '../../contracts/price-override.ts';
import { listPriceOverrides } from '../../db/price-overrides.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentPrice } from '../presentation/override.ts';
import { pageOverrides } from './page-overrides.ts';

/** Prices that admins set, newest first. */
export async function listPrices(
  { db }: Pick<ApiDependencies, 'db'>,
  query: OverrideQuery,
): Promise<PriceOverrideList> {
  return pageOverrides('prices', query, (filter, page) => listPriceOverrides(db.pool, filter, page), presentPrice);
}
