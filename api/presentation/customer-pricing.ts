import type { CustomerPricing } from '../../contracts/customer-pricing.ts';
import type { CustomerKey, CustomerPricingRecord } from '../../db/customer-pricing.ts';
import type { PriceRow } from '../../domain/price-row.ts';
import { presentLongContext, presentPriceRow, presentRates } from './override.ts';
import { presentTime } from './time.ts';

export function presentCustomerPricing(
  { tenantId, customerId }: CustomerKey,
  { pricing, setBy, setAt }: CustomerPricingRecord,
): CustomerPricing {
  return {
    tenant_id: tenantId,
    customer_id: customerId,
    markup_percent: pricing?.markupPercent ?? null,
    prices: (pricing?.prices ?? []).map(presentOwnPrice),
    set_by: setBy,
    set_at: presentTime(setAt),
  };
}

function presentOwnPrice(price: PriceRow): CustomerPricing['prices'][number] {
  const { batch, standard, longContext } = price;
  return {
    ...presentPriceRow(price),
    batch: presentRates(batch ?? standard),
    ...(longContext !== undefined && { long_context: presentLongContext(longContext) }),
  };
}
