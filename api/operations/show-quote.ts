import type { Quote } from '../../contracts/quote.ts';
import { findJobPricing, findPricingOfCustomer } from '../../db/customer-pricing.ts';
import type { StoredQuote } from '../../db/submissions.ts';
import { type CustomerPricing, pricingForModels } from '../../domain/customer-pricing.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { inCustomerPrices } from '../presentation/customer-quote.ts';
import { presentQuote } from '../presentation/quote.ts';
import { isCustomer } from './customer-view.ts';

type Db = ApiDependencies['db'];

/** The pricing of its submission, in which the caller is shown a job; null for the tenant's own prices. */
export async function submittedPricing(
  db: Db,
  principal: Principal,
  job: { readonly uuid: string },
): Promise<CustomerPricing | null> {
  return isCustomer(principal) ? findJobPricing(db.pool, job) : null;
}

/** The pricing of now, in which the caller is shown a draft; null for the tenant's own prices. */
export async function currentPricing(
  db: Db,
  principal: Principal,
  owner: { readonly tenantId: string; readonly customerId: string | null },
): Promise<CustomerPricing | null> {
  return isCustomer(principal) ? findPricingOfCustomer(db.pool, owner) : null;
}

/** A quote as the caller may see it. */
export function showQuote(stored: StoredQuote, currency: string, pricing: CustomerPricing | null, at: Date): Quote {
  const quote = presentQuote(stored, currency);
  return pricing === null ? quote : inCustomerPrices(quote, pricingForModels(pricing, quote.lines, at));
}
