import { suspensionMessage } from './account-suspension.ts';
import { type AdmissionFacts, type BudgetFact, PRICE_OF_MODE } from './admission-facts.ts';
import { customerQuote, pricingForModels } from './customer-pricing.ts';
import type { ErrorCode } from './gateway-error.ts';
import { quoteJob } from './job-quote.ts';
import { type ChosenTarget, countItems, type JudgedTarget, judgeTarget, type TargetObjection } from './judge-target.ts';
import type { ModelTarget } from './model-alias.ts';
import type { Amount } from './money.ts';
import type { Quote } from './quote.ts';
import { type Feature, featureField } from './request-features.ts';
import { listCandidates } from './routing.ts';

/** Which items a finding concerns; null for the job as a whole. The empty model name is the job's own. */
export type FindingRows =
  | { readonly feature: Feature; readonly requestedModels: readonly string[] }
  | { readonly minBytes: number; readonly requestedModels: readonly string[] }
  | { readonly requestedModel: string }
  | null;

/** One reason why the job cannot run. */
export interface Finding {
  readonly error: ErrorCode;
  readonly message: string;
  readonly field: string;
  readonly items: number;
  readonly rows: FindingRows;
}

export interface Verdict {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly target: ModelTarget | null;
  /** The target of every model asked for; the empty name is the job's own. */
  readonly targets: readonly ({ readonly requestedModel: string } & ChosenTarget)[];
  /** Those that were tried before, or in vain, in that order, with the first of what stands in their way. */
  readonly rejectedTargets: readonly {
    readonly requestedModel: string;
    readonly target: ModelTarget;
    readonly error: ErrorCode;
    readonly message: string;
  }[];
  readonly quote: Quote | null;
  /** Those that limit the job. */
  readonly budgets: readonly {
    readonly budget: BudgetFact;
    readonly limit: Amount;
    readonly available: Amount;
    readonly fits: boolean;
  }[];
}

/**
 * The whole verdict on a job, from counts alone: can a batch run it, what will it cost, does that fit. Changes nothing.
 * Every model asked for gets the first of its targets that can run the items which ask for it; where none can, the
 * findings are what stands in the way of the first. Findings are in the order a caller should fix them.
 */
export function judgeAdmission(facts: AdmissionFacts): Verdict {
  const requested = [...new Set(['', ...facts.groups.map((group) => group.requestedModel)])];
  const judged = requested.map((requestedModel) => judgeModel(facts, requestedModel));
  const chosen = new Map(
    judged.flatMap(({ requestedModel, chosen: found }) => (found ? [[requestedModel, found]] : [])),
  );
  const findings = [...findStanding(facts), ...findMalformed(facts), ...findObjections(facts, judged)].sort(byUrgency);
  const quote =
    findings.length === 0 ? quoteJob({ ...facts, priceBookVersion: facts.catalogue.prices.version }, chosen) : null;
  const budgets = facts.budgets.flatMap((budget) => {
    const { limit, held, settled } = budget;
    if (limit === null) return [];
    const available = limit - held - settled;
    return [{ budget, limit, available, fits: quote === null || quote.reserved <= available }];
  });
  if (quote !== null) findings.push(...judgeMoney(facts, quote, budgets));
  return {
    ok: findings.length === 0,
    findings,
    target: chosen.get('')?.target ?? null,
    targets: [...chosen].map(([requestedModel, found]) => ({ requestedModel, ...found })),
    rejectedTargets: judged.flatMap(({ rejected }) => rejected),
    quote,
    budgets,
  };
}

interface JudgedModel {
  readonly requestedModel: string;
  readonly chosen: ChosenTarget | null;
  /** Why no target was chosen: what stands in the way of the first. */
  readonly objections: readonly TargetObjection[];
  readonly rejected: Verdict['rejectedTargets'];
}

/** Tries the targets of the name until one can run its items. */
function judgeModel(facts: AdmissionFacts, requestedModel: string): JudgedModel {
  const name = requestedModel === '' ? facts.requestedModel : requestedModel;
  const groups = facts.groups.filter((group) => group.requestedModel === requestedModel);
  const candidates = listCandidates(name, facts);
  const rejected: Verdict['rejectedTargets'][number][] = [];
  let first: Extract<JudgedTarget, { ok: false }>['objections'] | null = null;
  for (const candidate of candidates) {
    const judged = judgeTarget(candidate, { name, facts, groups });
    if (judged.ok) return { requestedModel, chosen: judged.chosen, objections: [], rejected };
    first ??= judged.objections;
    const { provider, model } = candidate;
    for (const { error, message } of judged.objections.slice(0, 1)) {
      rejected.push({ requestedModel, target: { provider, model }, error, message });
    }
  }
  return { requestedModel, chosen: null, objections: first ?? [unknownModel(name)], rejected };
}

function unknownModel(name: string): TargetObjection {
  const message = `Unknown model "${name}". Use an alias, a model or provider/model from GET /v1/models.`;
  return { error: 'model_unknown', message, about: 'model', items: 0 };
}

/** Before all else: nothing that the caller could correct helps while it lasts. */
function findStanding({ accountSuspension: suspension }: AdmissionFacts): Finding[] {
  if (suspension === null) return [];
  const field = `${suspension.of}_id`;
  return [{ error: 'tenant_suspended', message: suspensionMessage(suspension), field, items: 0, rows: null }];
}

/** What no target can run, whichever it is. */
function findMalformed({ endpoint, groups }: AdmissionFacts): Finding[] {
  const items = countItems(groups, 'MALFORMED');
  if (items === 0) return [];
  const message = `Some requests do not have the shape of ${endpoint}. The details name each field.`;
  const rows = {
    feature: 'MALFORMED' as const,
    requestedModels: [...new Set(groups.map((each) => each.requestedModel))],
  };
  return [{ error: 'invalid_item', message, field: 'items[*].request', items, rows }];
}

/** The objections of all models. The same one about items of several models is one finding. */
function findObjections(facts: AdmissionFacts, judged: readonly JudgedModel[]): Finding[] {
  const all = judged.flatMap(({ requestedModel, objections }) =>
    objections.map((objection) => ({ requestedModel, objection })),
  );
  const same = Map.groupBy(all, ({ requestedModel, objection: { error, message, about } }) =>
    JSON.stringify(typeof about === 'string' ? [about, error, message, requestedModel] : [about, error, message]),
  );
  return [...same.values()].flatMap((together) => {
    const [first] = together;
    if (first === undefined) return [];
    const { error, message, about } = first.objection;
    if (typeof about === 'string') return [{ error, message, ...whereModel(facts, first.requestedModel, about) }];
    const items = sum(together, ({ objection }) => objection.items);
    const rows = { ...about, requestedModels: together.map(({ requestedModel }) => requestedModel) };
    const path = 'feature' in about ? featureField(facts.endpoint, about.feature) : 'request';
    return [{ error, message, field: `items[*].${path}`, items, rows }];
  });
}

function whereModel(
  { groups }: AdmissionFacts,
  requestedModel: string,
  about: Extract<TargetObjection['about'], string>,
): Pick<Finding, 'field' | 'items' | 'rows'> {
  if (requestedModel === '') return { field: about, items: 0, rows: null };
  const items = sum(
    groups.filter((group) => group.requestedModel === requestedModel),
    (group) => group.items,
  );
  return { field: about === 'model' ? 'items[*].request.model' : about, items, rows: { requestedModel } };
}

/** Models first, then malformed requests, then features, then sizes. */
function byUrgency(one: Finding, other: Finding): number {
  return urgencyOf(one) - urgencyOf(other);
}

function urgencyOf({ rows }: Finding): number {
  if (rows === null || 'requestedModel' in rows) return 0;
  if ('minBytes' in rows) return 3;
  return rows.feature === 'MALFORMED' ? 1 : 2;
}

function judgeMoney(facts: AdmissionFacts, quote: Quote, budgets: Verdict['budgets']): Finding[] {
  const job = { items: 0, rows: null };
  const findings: Finding[] = findSuspensions(facts);
  if (facts.maxCost !== null && heldInPricesOf(facts, quote) > facts.maxCost) {
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

/** What the job would hold, in the prices its `max_cost` is in. */
function heldInPricesOf({ maxCostPricing: pricing, at, mode }: AdmissionFacts, quote: Quote): Amount {
  if (!pricing) return quote.reserved;
  return customerQuote(pricingForModels(pricing, quote.lines, at), quote.lines, {
    margin: quote.margin,
    mode: PRICE_OF_MODE[mode],
  }).reserved;
}

/** Why nothing new may start, before what it would cost: no other correction helps while it lasts. */
function findSuspensions({ suspensions }: AdmissionFacts): Finding[] {
  return suspensions.map(({ scope, scopeId, suspensionId }) => ({
    error: 'spending_suspended',
    message:
      `No new work starts for ${scope} ${scopeId}: a job cost more than was held for it, and the tenant's overage policy is ` +
      `suspend. Running work goes on. Ask an admin of the gateway to lift ${suspensionId}.`,
    field: `${scope}_id`,
    items: 0,
    rows: null,
  }));
}

function sum<Value>(values: readonly Value[], of: (value: Value) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
