import { OPENAI_LIFETIME, OPENAI_LIMITS } from './capabilities-openai.ts';
import type { BatchLifetime, BatchLimits, CapabilityRow, FeatureRefusal } from './capability-row.ts';
import type { ProviderProfile } from './catalogue.ts';
import { type ModelKind, type PriceRow, START_OF_BOOK, type TokenRates } from './price-row.ts';
import type { Endpoint, Provider } from './provider.ts';
import { NO_STREAM, UNPRICED } from './refusals-of-every-provider.ts';
import { FEATURES_OF_ENDPOINT, type Feature } from './request-features.ts';

/** Prices of one million tokens; a cache that has none costs what input does. */
export interface CompatibleRates {
  readonly input: string;
  readonly cachedInput?: string | undefined;
  readonly cacheWrite?: string | undefined;
  readonly output: string;
}

export interface CompatibleModel {
  readonly model: string;
  readonly kind: ModelKind;
  /** ISO 4217 */
  readonly currency: string;
  /** First day of the prices, YYYY-MM-DD; since ever where absent. */
  readonly from?: string | undefined;
  readonly batch: CompatibleRates;
  /** Those of batch mode where absent. */
  readonly standard?: CompatibleRates | undefined;
  readonly maxOutputTokens: number;
}

type Overrides<Values> = { readonly [name in keyof Values]?: Values[name] | undefined };

/** A provider that speaks OpenAI's batch API, as its operator describes it. */
export interface CompatibleProvider {
  readonly provider: Provider;
  readonly region: string;
  readonly endpoints: readonly Endpoint[];
  readonly models: readonly CompatibleModel[];
  /** Where they differ from OpenAI's. */
  readonly limits: Overrides<BatchLimits>;
  /** Where it differs from OpenAI's. */
  readonly lifetime: Overrides<BatchLifetime>;
  /** What its batch mode does not do, besides what none does. */
  readonly refuses: readonly Feature[];
}

const SOURCE = "The gateway's own providers file";

/** Only the models named can be run: what another would cost is not known. Limits not given are OpenAI's, but for quotas. */
export function openAiCompatibleProfile(input: CompatibleProvider): ProviderProfile {
  const { provider, region } = input;
  return {
    provider,
    dialect: 'openai',
    region,
    capabilities: input.endpoints.map((endpoint) => toCapability(endpoint, input)),
    prices: input.models.map((model) => toPrice(provider, model)),
  };
}

function toCapability(endpoint: Endpoint, { provider, limits, lifetime, refuses }: CompatibleProvider): CapabilityRow {
  return {
    provider,
    endpoint,
    models: ['*'],
    isBatchEligible: true,
    refuses: refusalsOf(endpoint, provider, refuses),
    limits: { ...OPENAI_LIMITS, maxCreatesPerHour: null, ...given(limits) },
    lifetime: { ...OPENAI_LIFETIME, ...given(lifetime) },
    sizesDiffer: false,
    source: SOURCE,
  };
}

function refusalsOf(endpoint: Endpoint, provider: Provider, refuses: readonly Feature[]): readonly FeatureRefusal[] {
  const common = [NO_STREAM, ...UNPRICED];
  const own = refuses
    .filter((feature) => !common.some((refusal) => refusal.feature === feature))
    .map((feature) => ({
      feature,
      message: `The batch mode of ${provider} does not have this. Remove the field named, or choose a model of another provider.`,
    }));
  return [...common, ...own].filter(({ feature }) => FEATURES_OF_ENDPOINT[endpoint].includes(feature));
}

function toPrice(provider: Provider, model: CompatibleModel): PriceRow {
  const batch = toRates(model.batch);
  return {
    provider,
    model: model.model,
    from: model.from ?? START_OF_BOOK,
    currency: model.currency,
    kind: model.kind,
    standard: model.standard === undefined ? batch : toRates(model.standard),
    batch,
    batchBasis: 'override',
    maxOutputTokens: model.kind === 'chat' ? model.maxOutputTokens : 0,
  };
}

function toRates({ input, cachedInput = input, cacheWrite = input, output }: CompatibleRates): TokenRates {
  return { input, cachedInput, cacheWrite, output };
}

function given<Values extends object>(overrides: Overrides<Values>): Partial<Values> {
  return Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined)) as Partial<Values>;
}
