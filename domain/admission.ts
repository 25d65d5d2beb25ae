import { BATCH_CAPABILITIES } from './batch-capabilities.ts';
import { expectOutputTokens } from './estimate.ts';
import type { ErrorCode } from './gateway-error.ts';
import { type ModelAliases, type ModelTarget, resolveModel } from './model-alias.ts';
import type { Amount } from './money.ts';
import { findPrice, PRICE_BOOK_VERSION } from './price-book.ts';
import type { ModelKind, PriceRow } from './price-row.ts';
import { canPrice } from './pricing.ts';
import { ENDPOINT_PROVIDERS, type Endpoint, type Provider } from './provider.ts';
import { buildQuote, type Quote } from './quote.ts';
import { type Feature, featureField, hasFeature } from './request-features.ts';

/** Items of one kind, as counted at append. Sums are over the group; `tokenClass` is floor(log2(input tokens)) of each. */
export interface ItemGroup {
  /** Empty where the items follow the job's model. */
  readonly requestedModel: string;
  readonly features: number;
  readonly tokenClass: number;
  readonly items: number;
  readonly bytes: number;
  readonly largestBytes: number;
  readonly inputTokens: number;
  /** Of the items that cap their output. */
  readonly outputTokens: number;
  readonly uncappedItems: number;
}

/** A limit that applies to the job, with what is already committed of it in its current period. */
export interface BudgetFact {
  readonly budgetId: string;
  readonly scope: 'tenant' | 'project' | 'customer';
  readonly scopeId: string;
  readonly period: 'total' | 'month';
  /** First day of the period (UTC date of the tenant's month), YYYY-MM-DD; a total budget starts at 1970-01-01. */
  readonly periodStart: string;
  readonly limit: Amount;
  readonly held: Amount;
  readonly settled: Amount;
}

export interface AdmissionFacts {
  readonly endpoint: Endpoint;
  readonly requestedModel: string;
  readonly aliases: ModelAliases;
  readonly groups: readonly ItemGroup[];
  readonly maxCost: Amount | null;
  readonly budgets: readonly BudgetFact[];
  readonly currency: string;
  readonly at: Date;
}

/** One reason why the job cannot run; `rows` says which items it concerns, null for the job as a whole. */
export interface Finding {
  readonly error: ErrorCode;
  readonly message: string;
  readonly field: string;
  readonly items: number;
  readonly rows:
    | { readonly feature: Feature }
    | { readonly requestedModel: string }
    | { readonly minBytes: number }
    | null;
}

export interface Verdict {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly target: ModelTarget | null;
  /** The target of every model asked for; the empty name is the job's own. */
  readonly targets: readonly { readonly requestedModel: string; readonly target: ModelTarget }[];
  readonly rejectedTargets: readonly {
    readonly target: ModelTarget;
    readonly error: ErrorCode;
    readonly message: string;
  }[];
  readonly quote: Quote | null;
  readonly budgets: readonly { readonly budget: BudgetFact; readonly available: Amount; readonly fits: boolean }[];
}

/**
 * The whole verdict on a job, from counts alone: can a batch run it, what will it cost, does that fit. Changes nothing.
 * Findings are in the order a caller should fix them.
 */
export function judgeAdmission(facts: AdmissionFacts): Verdict {
  const requested = [...new Set(['', ...facts.groups.map((group) => group.requestedModel)])];
  const judged = new Map(requested.map((model) => [model, judgeModel(facts, model)]));
  const chosen = new Map(
    [...judged].flatMap(([model, { chosen: found }]) => (found === null ? [] : [[model, found] as const])),
  );
  const main = chosen.get('') ?? null;
  const findings = [
    ...[...judged].flatMap(([model, { refusal }]) =>
      refusal === null ? [] : [{ ...refusal, ...whereModel(facts, model) }],
    ),
    ...judgeFeatures(facts, main?.target.provider ?? null),
    ...judgeSizes(facts, main?.target.provider ?? null),
  ];
  const quote = findings.length === 0 ? makeQuote(facts, chosen) : null;
  const budgets = facts.budgets.map((budget) => {
    const available = budget.limit - budget.held - budget.settled;
    return { budget, available, fits: quote === null || quote.reserved <= available };
  });
  if (quote !== null) findings.push(...judgeMoney(facts, quote, budgets));
  return {
    ok: findings.length === 0,
    findings,
    target: main?.target ?? null,
    targets: [...chosen].map(([requestedModel, { target }]) => ({ requestedModel, target })),
    rejectedTargets: judged.get('')?.rejected ?? [],
    quote,
    budgets,
  };
}

interface Chosen {
  readonly target: ModelTarget;
  readonly price: PriceRow;
}

interface Refusal {
  readonly error: ErrorCode;
  readonly message: string;
}

interface JudgedModel {
  readonly chosen: Chosen | null;
  /** Why no target was chosen. */
  readonly refusal: Refusal | null;
  /** Targets of the name that cannot run the job, and why. */
  readonly rejected: Verdict['rejectedTargets'];
}

/** The target of the name, if it can run the endpoint at a known price. */
function judgeModel(facts: AdmissionFacts, requestedModel: string): JudgedModel {
  const name = requestedModel === '' ? facts.requestedModel : requestedModel;
  const target = resolveModel(name, facts.aliases);
  if (target === null) {
    const message = `Unknown model "${name}". Use an alias, a model or provider/model from GET /v1/models.`;
    return { chosen: null, refusal: { error: 'model_unknown', message }, rejected: [] };
  }
  const price = judgeTarget(facts, target);
  if (!('error' in price)) return { chosen: { target, price }, refusal: null, rejected: [] };
  return { chosen: null, refusal: price, rejected: [{ target, ...price }] };
}

function judgeTarget(facts: AdmissionFacts, { provider, model }: ModelTarget): PriceRow | Refusal {
  if (!ENDPOINT_PROVIDERS[facts.endpoint].includes(provider) || BATCH_CAPABILITIES[provider] === null) {
    return {
      error: 'endpoint_not_supported',
      message: `Batches on ${provider} do not run ${facts.endpoint} here. Choose another model.`,
    };
  }
  const price = findPrice(provider, model, facts.at);
  if (price === null || !canPrice(price, 'batch')) {
    return {
      error: 'price_unknown',
      message: `No batch price is known for ${provider}/${model}, so its cost cannot be held. Choose a model from GET /v1/models.`,
    };
  }
  if (price.currency !== facts.currency) {
    return {
      error: 'price_unknown',
      message: `${provider}/${model} is priced in ${price.currency}, the tenant pays in ${facts.currency}.`,
    };
  }
  if (price.kind !== KIND_OF_ENDPOINT[facts.endpoint]) {
    return {
      error: 'endpoint_not_supported',
      message: `${provider}/${model} is a model for ${price.kind} and does not run ${facts.endpoint}.`,
    };
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

function whereModel(facts: AdmissionFacts, requestedModel: string): Pick<Finding, 'field' | 'items' | 'rows'> {
  const items = sum(
    facts.groups.filter((group) => group.requestedModel === requestedModel),
    (group) => group.items,
  );
  return requestedModel === ''
    ? { field: 'model', items: 0, rows: null }
    : { field: 'items[*].request.model', items, rows: { requestedModel } };
}

/** Malformed requests first; then what the provider's batch mode refuses. */
function judgeFeatures(facts: AdmissionFacts, provider: Provider | null): Finding[] {
  const refusals = provider === null ? [] : (BATCH_CAPABILITIES[provider]?.refuses ?? []);
  const rules: readonly { feature: Feature; error: ErrorCode; message: string }[] = [
    {
      feature: 'MALFORMED',
      error: 'invalid_item',
      message: `Some requests do not have the shape of ${facts.endpoint}. The details name each field.`,
    },
    ...refusals.map(({ feature, message }) => ({ feature, error: 'batch_capability_not_supported' as const, message })),
  ];
  return rules.flatMap(({ feature, error, message }) => {
    const items = sum(
      facts.groups.filter((group) => hasFeature(group.features, feature)),
      (group) => group.items,
    );
    if (items === 0) return [];
    const path = feature === 'MALFORMED' ? 'request' : featureField(facts.endpoint, feature);
    return [{ error, message, field: `items[*].${path}`, items, rows: { feature } }];
  });
}

function judgeSizes(facts: AdmissionFacts, provider: Provider | null): Finding[] {
  const limit = provider === null ? undefined : BATCH_CAPABILITIES[provider]?.maxItemBytes;
  if (limit === undefined) return [];
  const items = sum(
    facts.groups.filter((group) => group.largestBytes > limit),
    () => 1,
  );
  if (items === 0) return [];
  const message = `A request is larger than the ${limit} bytes that one item of a ${provider} batch may have. Make it smaller.`;
  return [{ error: 'request_too_large', message, field: 'items[*].request', items, rows: { minBytes: limit + 1 } }];
}

function judgeMoney(facts: AdmissionFacts, quote: Quote, budgets: Verdict['budgets']): Finding[] {
  const job = { items: 0, rows: null };
  const findings: Finding[] = [];
  if (facts.maxCost !== null && quote.reserved > facts.maxCost) {
    const message = 'The job would hold more than its max_cost. Raise max_cost, or send fewer or shorter items.';
    findings.push({ ...job, error: 'max_cost_exceeded', message, field: 'max_cost' });
  }
  for (const { budget, fits } of budgets) {
    if (fits) continue;
    const message = `The job would hold more than is available in the ${budget.period} budget of ${budget.scope} ${budget.scopeId}. See GET /v1/budgets.`;
    findings.push({ ...job, error: 'budget_exceeded', message, field: 'budget' });
  }
  return findings;
}

function makeQuote(facts: AdmissionFacts, chosen: ReadonlyMap<string, Chosen>): Quote {
  const groups = facts.groups.map((group) => {
    const found = chosen.get(group.requestedModel);
    if (found === undefined) throw new Error(`group of unjudged model ${group.requestedModel}`);
    const { price } = found;
    const cap = { maxOutputTokens: null, choices: 1, reasons: hasFeature(group.features, 'REASONING') };
    return {
      price,
      items: group.items,
      inputTokens: group.inputTokens,
      outputTokens: group.outputTokens + group.uncappedItems * expectOutputTokens(cap, price),
      // Every item of a token class is priced as if it were the longest of its class: an upper bound at a tier's edge.
      longestInputTokens: 2 ** (group.tokenClass + 1) - 1,
    };
  });
  return buildQuote(groups, 'batch', { priceBookVersion: PRICE_BOOK_VERSION });
}

function sum<Value>(values: readonly Value[], of: (value: Value) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
