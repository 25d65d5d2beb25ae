import { type AdmissionFacts, type AllowList, type ItemGroup, PRICE_OF_MODE } from './admission-facts.ts';
import type { CapabilityRow } from './capability-row.ts';
import type { ProviderProfile } from './catalogue.ts';
import { expectUncappedReplies, type UncappedReplies } from './expected-output.ts';
import type { ErrorCode } from './gateway-error.ts';
import { formatTarget, type ModelTarget } from './model-alias.ts';
import type { ModelKind, PriceRow } from './price-row.ts';
import { canPrice } from './pricing.ts';
import { ENDPOINT_DIALECTS, type Endpoint } from './provider.ts';
import { type Feature, hasFeature } from './request-features.ts';
import type { Candidate } from './routing.ts';

/** A target that can run what is asked of it. */
export interface ChosenTarget {
  readonly target: ModelTarget;
  /** Where it processes data; `global` where nothing is promised. */
  readonly region: string;
  readonly price: PriceRow;
  readonly capability: CapabilityRow;
  /** What is held for each reply whose request sets no cap. */
  readonly replies: UncappedReplies;
}

/** One reason why a target cannot run the items that would go to it. */
export interface TargetObjection {
  readonly error: ErrorCode;
  readonly message: string;
  /** What it is about: the model as such, a wish of the job's, or certain items. */
  readonly about:
    | 'model'
    | 'execution.region'
    | 'execution.providers'
    | { readonly feature: Feature }
    | { readonly minBytes: number };
  /** How many items it concerns, where it is about items. Of sizes at least so many: groups know their largest item alone. */
  readonly items: number;
}

/** What a model name of a job is asked to do. */
export interface Demand {
  /** As the caller wrote it. */
  readonly name: string;
  readonly facts: AdmissionFacts;
  /** The items that follow the name. */
  readonly groups: readonly ItemGroup[];
}

export type JudgedTarget =
  | { readonly ok: true; readonly chosen: ChosenTarget }
  | { readonly ok: false; readonly objections: readonly TargetObjection[] };

/**
 * Whether a target can run the items. The first thing that stands in the way of the target as such is told alone; else
 * every feature it refuses and every item that is too large.
 */
export function judgeTarget(candidate: Candidate, demand: Demand): JudgedTarget {
  const { facts } = demand;
  const target = { provider: candidate.provider, model: candidate.model };
  const profile = facts.catalogue.findProfile(target.provider);
  if (profile === null) return refuse('model_unknown', `The gateway has no provider "${target.provider}".`);
  const region = candidate.region ?? profile.region;
  const capability = findCapability(target, profile, facts);
  if ('error' in capability) return { ok: false, objections: [capability] };
  const barred = judgeWishes(target, region, facts) ?? judgeAllowLists(target, demand);
  if (barred !== null) return { ok: false, objections: [barred] };
  const price = findPrice(target, facts);
  if ('error' in price) return { ok: false, objections: [price] };
  const objections = [...judgeFeatures(capability, demand), ...judgeSizes(capability, demand)];
  if (objections.length > 0) return { ok: false, objections };
  const replies = expectUncappedReplies(price, profile.dialect, facts.outputHistory);
  return { ok: true, chosen: { target, region, price, capability, replies } };
}

function refuse(error: ErrorCode, message: string): JudgedTarget {
  return { ok: false, objections: [about('model', error, message)] };
}

function about(
  what: 'model' | 'execution.region' | 'execution.providers',
  error: ErrorCode,
  message: string,
): TargetObjection {
  return { error, message, about: what, items: 0 };
}

function findCapability(
  target: ModelTarget,
  { provider, dialect }: ProviderProfile,
  { catalogue, endpoint, mode }: AdmissionFacts,
): CapabilityRow | TargetObjection {
  const runs = ENDPOINT_DIALECTS[endpoint].includes(dialect);
  const capability = runs ? catalogue.findCapability(provider, endpoint, target.model) : null;
  if (capability === null) {
    const what = mode === 'batch' ? `Batches on ${provider} do` : `${provider} does`;
    const message = `${what} not run ${endpoint} here. Choose another model.`;
    return about('model', 'endpoint_not_supported', message);
  }
  if (mode === 'batch' && !capability.isBatchEligible) {
    const message = `${formatTarget(target)} does not run in batch mode. Choose another model.`;
    return about('model', 'endpoint_not_supported', message);
  }
  return capability;
}

/** `global` is no place: it satisfies only those who ask for it. */
function judgeWishes(target: ModelTarget, region: string, wanted: AdmissionFacts): TargetObjection | null {
  if (wanted.region !== null && wanted.region !== region) {
    const message = `${formatTarget(target)} processes data in region "${region}", and the job asks for "${wanted.region}".`;
    return about('execution.region', 'target_excluded', message);
  }
  if (wanted.providers !== null && !wanted.providers.includes(target.provider)) {
    const message = `${formatTarget(target)} is of a provider that is not among the job's execution.providers.`;
    return about('execution.providers', 'target_excluded', message);
  }
  return null;
}

function judgeAllowLists(target: ModelTarget, { name, facts }: Demand): TargetObjection | null {
  const barring = facts.allowLists.find((list) => !isAllowed(list, target, name));
  if (barring === undefined) return null;
  const whose = barring.of === 'tenant' ? 'The tenant' : 'The API key';
  const message = `${whose} may not use ${formatTarget(target)}. Choose another model, or ask an admin to allow it.`;
  return about('model', 'model_not_allowed', message);
}

function isAllowed({ models, providers }: AllowList, target: ModelTarget, name: string): boolean {
  if (providers !== null && !providers.includes(target.provider)) return false;
  return models === null || [name, target.model, formatTarget(target)].some((known) => models.includes(known));
}

function findPrice(
  target: ModelTarget,
  { catalogue, endpoint, at, currency, mode }: AdmissionFacts,
): PriceRow | TargetObjection {
  const price = catalogue.prices.find(target.provider, target.model, at);
  const named = formatTarget(target);
  if (price === null || !canPrice(price, PRICE_OF_MODE[mode])) {
    const message = `No ${mode === 'batch' ? 'batch ' : ''}price is known for ${named}, so its cost cannot be held. Choose a model from GET /v1/models.`;
    return about('model', 'price_unknown', message);
  }
  if (price.currency !== currency) {
    return about('model', 'price_unknown', `${named} is priced in ${price.currency}, the tenant pays in ${currency}.`);
  }
  if (price.kind !== KIND_OF_ENDPOINT[endpoint]) {
    const message = `${named} is a model for ${price.kind} and does not run ${endpoint}.`;
    return about('model', 'endpoint_not_supported', message);
  }
  return price;
}

const KIND_OF_ENDPOINT: { readonly [endpoint in Endpoint]: ModelKind } = {
  'chat.completions': 'chat',
  responses: 'chat',
  messages: 'chat',
  generate_content: 'chat',
  embeddings: 'embedding',
  moderations: 'moderation',
};

function judgeFeatures({ refuses }: CapabilityRow, { facts, groups }: Demand): TargetObjection[] {
  return refuses.flatMap(({ feature, message, ofBatchMode = false }) => {
    if (ofBatchMode && facts.mode !== 'batch') return [];
    const items = countItems(groups, feature);
    return items === 0
      ? []
      : [{ error: 'batch_capability_not_supported' as const, message, about: { feature }, items }];
  });
}

function judgeSizes({ provider, limits }: CapabilityRow, { facts, groups }: Demand): TargetObjection[] {
  if (facts.mode !== 'batch') return [];
  const limit = limits.maxItemBytes;
  const items = groups.filter((group) => group.largestBytes > limit).length;
  if (items === 0) return [];
  const message = `A request is larger than the ${limit} bytes that one item of a ${provider} batch may have. Make it smaller.`;
  return [{ error: 'request_too_large', message, about: { minBytes: limit + 1 }, items }];
}

export function countItems(groups: readonly ItemGroup[], feature: Feature): number {
  return groups.reduce((sum, group) => sum + (hasFeature(group.features, feature) ? group.items : 0), 0);
}
