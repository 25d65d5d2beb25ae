import type { CapabilityRow } from './capability-row.ts';
import { intersectModels, matchesModel } from './model-patterns.ts';
import { createPriceBook, type PriceBook } from './price-book.ts';
import type { PriceRow } from './price-row.ts';
import type { Dialect, Endpoint, Provider } from './provider.ts';
import type { Feature } from './request-features.ts';

/** One provider as the gateway knows it. */
export interface ProviderProfile {
  readonly provider: Provider;
  readonly dialect: Dialect;
  /** Where its configured address processes data, such as `eu`; `global` where it makes no promise. */
  readonly region: string;
  readonly capabilities: readonly CapabilityRow[];
  readonly prices: readonly PriceRow[];
}

/** An admin's word against the matrix: what a model family may or may not do. */
export interface CapabilityOverride {
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  /** As in {@link CapabilityRow}. */
  readonly model: string;
  /** Null speaks of batch mode as a whole. */
  readonly feature: Feature | null;
  readonly isAllowed: boolean;
  readonly reason: string;
}

/** Everything known of providers, models and prices at one moment, for one tenant. */
export interface Catalogue {
  readonly profiles: readonly ProviderProfile[];
  readonly prices: PriceBook;
  /** Of all providers, with what admins said: the first row of a provider and endpoint that matches a model decides. */
  readonly capabilities: readonly CapabilityRow[];
  findProfile(provider: Provider): ProviderProfile | null;
  /** Null where the provider's batch mode is not known to run the endpoint with the model. */
  findCapability(provider: Provider, endpoint: Endpoint, model: string): CapabilityRow | null;
}

export interface CatalogueOverrides {
  readonly prices: readonly PriceRow[];
  /** Later ones win. One that speaks of an endpoint without any row changes nothing: its limits are not known. */
  readonly capabilities: readonly CapabilityOverride[];
}

/** Overrides win: a price row of the same model and day, and a capability for whatever model it matches. */
export function createCatalogue(profiles: readonly ProviderProfile[], overrides?: CatalogueOverrides): Catalogue {
  const known = new Map(profiles.map((profile) => [profile.provider, profile]));
  const prices = createPriceBook(
    profiles.flatMap((profile) => profile.prices),
    overrides?.prices ?? [],
  );
  const published = profiles.flatMap((profile) => profile.capabilities);
  const capabilities = (overrides?.capabilities ?? []).reduce(
    (rows, override) => rows.flatMap((row) => applyOverride(row, override)),
    published,
  );
  return {
    profiles,
    prices,
    capabilities,
    findProfile: (provider) => known.get(provider) ?? null,
    findCapability: (provider, endpoint, model) =>
      capabilities.find(
        (row) => row.provider === provider && row.endpoint === endpoint && matchesModel(row.models, model),
      ) ?? null,
  };
}

/** The row as it was for the models the override does not speak of, after a row of those it does. */
function applyOverride(row: CapabilityRow, override: CapabilityOverride): readonly CapabilityRow[] {
  const { provider, endpoint, model, feature, isAllowed, reason } = override;
  if (provider !== row.provider || endpoint !== row.endpoint) return [row];
  const models = intersectModels(row.models, model);
  if (models.length === 0) return [row];
  const others = row.refuses.filter((refusal) => refusal.feature !== feature);
  const changed: CapabilityRow = {
    ...row,
    models,
    ...(feature === null
      ? { isBatchEligible: isAllowed }
      : { refuses: isAllowed ? others : [...others, { feature, message: reason }] }),
    source: `${row.source}; an administrator: ${reason}`,
  };
  const isWhole = row.models.every((pattern) => models.includes(pattern));
  return isWhole ? [changed] : [changed, row];
}
