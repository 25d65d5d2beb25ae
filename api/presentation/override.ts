import type { CapabilityOverride } from '../../contracts/capability-override.ts';
import { FeatureName, featureName } from '../../contracts/feature.ts';
import type { NewPrice, PriceOverride } from '../../contracts/price-override.ts';
import type { CapabilityOverrideRecord } from '../../db/capability-overrides.ts';
import type { OverrideRecord } from '../../db/override-rows.ts';
import type { PriceOverride as PriceOverrideRecord } from '../../db/price-overrides.ts';
import type { TokenRates } from '../../domain/price-row.ts';
import { presentTime } from './time.ts';

export function presentPrice({ price, ...record }: PriceOverrideRecord): PriceOverride {
  const { provider, model, from, currency, kind, standard, batch, longContext, maxOutputTokens } = price;
  return {
    ...presentRecord(record),
    provider,
    model,
    from,
    currency,
    kind,
    standard: presentRates(standard),
    batch: batch === null ? null : presentRates(batch),
    long_context:
      longContext === undefined
        ? null
        : {
            above_input_tokens: longContext.aboveInputTokens,
            standard: presentRates(longContext.standard),
            batch: longContext.batch === null ? null : presentRates(longContext.batch),
          },
    max_output_tokens: maxOutputTokens,
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

function presentRates({ input, cachedInput, cacheWrite, longCacheWrite, output }: TokenRates): NewPrice['standard'] {
  return {
    input,
    cached_input: cachedInput,
    cache_write: cacheWrite,
    output,
    ...(longCacheWrite !== undefined && { long_cache_write: longCacheWrite }),
  };
}
