import type { CapabilityOverride } from '../../contracts/capability-override.ts';
import { FeatureName, featureName } from '../../contracts/feature.ts';
import type { NewPrice, PriceOverride } from '../../contracts/price-override.ts';
import type { CapabilityOverrideRecord } from '../../db/capability-overrides.ts';
import type { OverrideRecord } from '../../db/override-rows.ts';
import type { PriceOverride as PriceOverrideRecord } from '../../db/price-overrides.ts';
import type { PriceRow, TokenRates } from '../../domain/price-row.ts';
import { presentTime } from './time.ts';

export function presentPrice({ price, ...record }: PriceOverrideRecord): PriceOverride {
  const { longContext } = price;
  return {
    ...presentRecord(record),
    ...presentPriceRow(price),
    batch: price.batch === null ? null : presentRates(price.batch),
    long_context: longContext === undefined ? null : presentLongContext(longContext),
  };
}

/** What every price says, whoever it is for. */
export function presentPriceRow(price: PriceRow) {
  const { provider, model, from, currency, kind, standard, maxOutputTokens } = price;
  return {
    provider,
    model,
    from,
    currency,
    kind,
    standard: presentRates(standard),
    max_output_tokens: maxOutputTokens,
  };
}

export function presentLongContext(longContext: NonNullable<PriceRow['longContext']>) {
  return {
    above_input_tokens: longContext.aboveInputTokens,
    standard: presentRates(longContext.standard),
    batch: longContext.batch === null ? null : presentRates(longContext.batch),
  };
}

export function presentCapability(record: CapabilityOverrideRecord): CapabilityOverride {
  const { provider, endpoint, model, feature, isAllowed } = record;
  return {
    ...presentRecord(record),
    provider,
    endpoint,
    model,
    feature: feature === null ? null : FeatureName.parse(featureName(feature)),
    is_allowed: isAllowed,
  };
}

function presentRecord(record: OverrideRecord) {
  return {
    override_id: record.overrideId,
    tenant_id: record.tenantId,
    reason: record.reason,
    created_by: record.createdBy,
    created_at: record.createdAt.toISOString(),
    withdrawn_by: record.withdrawnBy,
    withdrawn_at: presentTime(record.withdrawnAt),
  };
}

export function presentRates({
  input,
  cachedInput,
  cacheWrite,
  longCacheWrite,
  output,
}: TokenRates): NewPrice['standard'] {
  return {
    input,
    cached_input: cachedInput,
    cache_write: cacheWrite,
    output,
    ...(longCacheWrite !== undefined && { long_cache_write: longCacheWrite }),
  };
}
