import type { AccountSuspension } from './account-suspension.ts';
import type { Catalogue } from './catalogue.ts';
import type { CustomerPricing } from './customer-pricing.ts';
import type { ModelAliases } from './model-alias.ts';
import type { Amount } from './money.ts';
import type { OutputHistory } from './output-history.ts';
import type { SpendingScope } from './overage.ts';
import type { PriceMode } from './pricing.ts';
import type { Endpoint, Provider } from './provider.ts';
import type { Calibration } from './token-calibration.ts';

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

/** A budget that the job's money is counted in, with what is already committed of it in its current period. */
export interface BudgetFact {
  readonly budgetId: string;
  readonly scope: 'tenant' | 'project' | 'customer';
  readonly scopeId: string;
  readonly period: 'total' | 'month';
  /** First day of the period (UTC date of the tenant's month), YYYY-MM-DD; a total budget starts at 1970-01-01. */
  readonly periodStart: string;
  /** Null where the limit was lifted: nothing is refused for it, and it counts on. */
  readonly limit: Amount | null;
  readonly held: Amount;
  readonly settled: Amount;
}

/** A scope the job belongs to that may start nothing new. */
export interface SuspensionFact extends SpendingScope {
  readonly suspensionId: string;
}

/** Names that may be used; null allows all. */
export interface AllowList {
  readonly of: 'tenant' | 'key';
  readonly models: readonly string[] | null;
  readonly providers: readonly Provider[] | null;
}

/**
 * How requests are to run: in a provider's batches, or each on its ordinary endpoint, where what holds for batches alone (that
 * the model runs in them, their price, their limits) does not matter.
 */
export type RunMode = 'batch' | 'direct';

/** The price that requests of a mode are charged by. */
export const PRICE_OF_MODE = { batch: 'batch', direct: 'standard' } as const satisfies {
  readonly [mode in RunMode]: PriceMode;
};

export interface AdmissionFacts {
  readonly mode: RunMode;
  /** Decides between weighted targets, so that validate and submit choose the same. */
  readonly jobId: string;
  readonly catalogue: Catalogue;
  /** Every list must allow a target: a model by its alias, plain id or `provider/model`. */
  readonly allowLists: readonly AllowList[];
  /** Where the job has to be processed, null for anywhere. */
  readonly region: string | null;
  /** The only providers the job may run on, null for any. */
  readonly providers: readonly Provider[] | null;
  readonly endpoint: Endpoint;
  readonly requestedModel: string;
  readonly aliases: ModelAliases;
  readonly groups: readonly ItemGroup[];
  /** What a sample of the items told; null before one was counted, and then the counts stand as they are. */
  readonly calibration: Calibration | null;
  /** Of the tenant, at the job's endpoint. */
  readonly outputHistory: readonly OutputHistory[];
  /** The tenant's safety margin: a decimal part of the estimate, such as `0.10`. */
  readonly margin: string;
  readonly maxCost: Amount | null;
  /** The prices `maxCost` is in, of the customer whose own key made the job; the tenant's where there are none. */
  readonly maxCostPricing?: CustomerPricing | null;
  readonly budgets: readonly BudgetFact[];
  /** That the tenant or customer may start nothing new; null in good standing. */
  readonly accountSuspension: AccountSuspension | null;
  /** Those in force, the oldest first. */
  readonly suspensions: readonly SuspensionFact[];
  readonly currency: string;
  readonly at: Date;
}
