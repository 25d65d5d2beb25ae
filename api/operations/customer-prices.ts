import type { CustomerPricing, SetCustomerPricing } from '../../contracts/customer-pricing.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { type CustomerKey, findCustomerPricing, setCustomerPricing } from '../../db/customer-pricing.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentCustomerPricing } from '../presentation/customer-pricing.ts';
import { requireProvider } from './known-provider.ts';
import { requireTenant } from './known-tenant.ts';
import { toPriceRow } from './price-rows.ts';

const NOTHING_SET = { pricing: null, setBy: null, setAt: null };

/** What a customer is sold at. Throws `not_found` for an unknown tenant or customer. */
export async function getCustomerPricing(
  dependencies: Pick<ApiDependencies, 'db'>,
  customer: CustomerKey,
): Promise<CustomerPricing> {
  await requireTenant(dependencies, customer.tenantId);
  const record = isStorable(customer.customerId) ? await findCustomerPricing(dependencies.db.pool, customer) : null;
  if (record === null) throw new GatewayError('not_found', 'No such customer.');
  return presentCustomerPricing(customer, record);
}

/**
 * Replaces what a customer is sold at, from the next submission on; a customer that was never named is made. Throws
 * `not_found` for an unknown tenant, or `invalid_request` for a price in another currency than the tenant's, two prices of
 * one model from the same day, or a provider the gateway does not have.
 */
export async function replaceCustomerPricing(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>,
  {
    customer,
    principal,
    wanted,
  }: {
    readonly customer: CustomerKey;
    readonly principal: Principal;
    readonly wanted: SetCustomerPricing;
  },
): Promise<CustomerPricing> {
  const { db, catalogue, now } = dependencies;
  const { currency } = await requireTenant(dependencies, customer.tenantId);
  const at = now();
  const prices = wanted.prices.map((price) => toPriceRow(price, at));
  for (const [index, price] of prices.entries()) {
    const field = `prices[${index}]`;
    requireProvider(catalogue, price.provider, `${field}.provider`);
    if (price.currency !== currency)
      throw invalid(`must be ${currency}, which the tenant pays in`, `${field}.currency`);
    const same = prices.findIndex((other) => keyOf(other) === keyOf(price));
    if (same !== index) throw invalid(`must not repeat the model and day of prices[${same}]`, `${field}.model`);
  }
  const { markup_percent: markupPercent } = wanted;
  const pricing = markupPercent === null ? null : { markupPercent, prices };
  await inTransaction(db, async (client) => {
    await setCustomerPricing(client, customer, pricing, principal.keyId);
    const { tenantId, customerId } = customer;
    const entry = { actor: principal.keyId, tenantId, subject: customerId };
    await recordAudit(client, { ...entry, act: 'customer.pricing_set', details: { prices: prices.length } });
  });
  return presentCustomerPricing(customer, (await findCustomerPricing(db.pool, customer)) ?? NOTHING_SET);
}

function keyOf({
  provider,
  model,
  from,
}: {
  readonly provider: string;
  readonly model: string;
  readonly from: string;
}) {
  return JSON.stringify([provider, model, from]);
}

function invalid(message: string, field: string): GatewayError {
  return new GatewayError('invalid_request', message, { field });
}
