import type { Capability, CapabilityList } from '../../contracts/capability.ts';
import { FeatureName, featureName } from '../../contracts/feature.ts';
import { loadCatalogue } from '../../db/catalogue-overrides.ts';
import { type DescribedCapability, describeCapabilities } from '../../domain/describe-capabilities.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Feature } from '../../domain/request-features.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { tenantScope } from './owned-job.ts';

/** The capability matrix as it is for the key's tenant. */
export async function listCapabilities(
  { db, catalogue }: Pick<ApiDependencies, 'db' | 'catalogue'>,
  { principal }: { readonly principal: Principal },
): Promise<CapabilityList> {
  const own = await loadCatalogue(db.pool, catalogue, tenantScope(principal).tenantId);
  return { data: describeCapabilities(own).map(present) };
}

const nameOf = (feature: Feature) => FeatureName.parse(featureName(feature));

function present({ limits, lifetime, ...row }: DescribedCapability): Capability {
  return {
    provider: row.provider,
    endpoint: row.endpoint,
    models: [...row.models],
    batch_eligible: row.isBatchEligible,
    native: row.isNative,
    region: row.region,
    features: Object.fromEntries(row.features.map(({ feature, isSupported }) => [nameOf(feature), isSupported])),
    refusals: row.refusals.map(({ feature, message }) => ({ feature: nameOf(feature), message })),
    limits: {
      max_items: limits.maxItems,
      max_bytes: limits.maxBytes,
      max_item_bytes: limits.maxItemBytes,
      max_embedding_inputs: limits.maxEmbeddingInputs,
      max_creates_per_hour: limits.maxCreatesPerHour,
      max_queued_items: limits.maxQueuedItems,
      max_queued_tokens: limits.maxQueuedTokens,
      max_concurrent_batches: limits.maxConcurrentBatches,
    },
    lifetime: {
      window_hours: lifetime.windowHours,
      result_retention_days: lifetime.resultRetentionDays,
      on_expiry: lifetime.onExpiry,
      on_cancel: lifetime.onCancel,
    },
    source: row.source,
  };
}
