import { type BuiltInSettings, builtInProfiles } from './built-in-profiles.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import { type CompatibleRates, openAiCompatibleProfile } from './openai-compatible-profile.ts';
import type { ModelKind } from './price-row.ts';
import type { Endpoint } from './provider.ts';
import { type Feature, findFeature } from './request-features.ts';

type Optional<Value> = Value | undefined;

interface FileRates {
  readonly input: string;
  readonly cached_input?: Optional<string>;
  readonly cache_write?: Optional<string>;
  readonly output: string;
}

/** An entry of the providers file, as far as it tells what the provider can do. */
export interface ConfiguredProfile {
  readonly name: string;
  readonly region: string;
  readonly endpoints: readonly Endpoint[];
  readonly models: readonly {
    readonly model: string;
    readonly kind: ModelKind;
    readonly currency: string;
    readonly from?: Optional<string>;
    readonly batch: FileRates;
    readonly standard?: Optional<FileRates>;
    readonly max_output_tokens: number;
  }[];
  readonly limits: {
    readonly max_items?: Optional<number>;
    readonly max_bytes?: Optional<number>;
    readonly max_item_bytes?: Optional<number>;
    readonly max_embedding_inputs?: Optional<number>;
    readonly max_creates_per_hour?: Optional<number>;
    readonly max_queued_items?: Optional<number>;
    readonly max_queued_tokens?: Optional<number>;
    readonly max_concurrent_batches?: Optional<number>;
  };
  readonly lifetime: {
    readonly window_hours?: Optional<number | null>;
    readonly result_retention_days?: Optional<number>;
    readonly on_expiry?: Optional<'finished_items_kept' | 'nothing_kept'>;
    readonly on_cancel?: Optional<'finished_items_kept' | 'nothing_kept'>;
  };
  /** Public names of features. */
  readonly refuses: readonly string[];
}

export interface GatewayFacts extends BuiltInSettings {
  readonly configured: readonly ConfiguredProfile[];
}

/** All that this gateway knows of providers, before any override. Throws RangeError for a feature that is none. */
export function createGatewayCatalogue({ configured, ...builtIn }: GatewayFacts): Catalogue {
  return createCatalogue([...builtInProfiles(builtIn), ...configured.map(toProfile)]);
}

function toProfile(entry: ConfiguredProfile): ReturnType<typeof openAiCompatibleProfile> {
  const { name, region, endpoints, models, limits, lifetime } = entry;
  return openAiCompatibleProfile({
    provider: name,
    region,
    endpoints,
    models: models.map(({ batch, standard, max_output_tokens, ...model }) => ({
      ...model,
      batch: toRates(batch),
      standard: standard && toRates(standard),
      maxOutputTokens: max_output_tokens,
    })),
    limits: {
      maxItems: limits.max_items,
      maxBytes: limits.max_bytes,
      maxItemBytes: limits.max_item_bytes,
      maxEmbeddingInputs: limits.max_embedding_inputs,
      maxCreatesPerHour: limits.max_creates_per_hour,
      maxQueuedItems: limits.max_queued_items,
      maxQueuedTokens: limits.max_queued_tokens,
      maxConcurrentBatches: limits.max_concurrent_batches,
    },
    lifetime: {
      windowHours: lifetime.window_hours,
      resultRetentionDays: lifetime.result_retention_days,
      onExpiry: lifetime.on_expiry,
      onCancel: lifetime.on_cancel,
    },
    refuses: entry.refuses.map((feature) => toFeature(name, feature)),
  });
}

function toRates({ input, cached_input, cache_write, output }: FileRates): CompatibleRates {
  return { input, cachedInput: cached_input, cacheWrite: cache_write, output };
}

function toFeature(provider: string, name: string): Feature {
  const feature = findFeature(name);
  if (feature === null) throw new RangeError(`providers file: ${provider} refuses "${name}", which is no feature`);
  return feature;
}
