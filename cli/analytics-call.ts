import type { z } from 'zod';
import {
  CacheAnalyticsAnswer,
  CostAnalyticsAnswer,
  DurationAnalyticsAnswer,
  FailureAnalyticsAnswer,
  ItemAnalyticsAnswer,
  RetryAnalyticsAnswer,
  TokenAnalyticsAnswer,
} from '../contracts/analytics.ts';
import type { Client, Query } from './client.ts';

export const ANALYTICS_KINDS = ['items', 'costs', 'tokens', 'cache', 'retries', 'durations', 'failures'] as const;
export type AnalyticsKind = (typeof ANALYTICS_KINDS)[number];

const ANSWERS: { readonly [kind in AnalyticsKind]: z.ZodType<AnalyticsAnswer> } = {
  items: ItemAnalyticsAnswer,
  costs: CostAnalyticsAnswer,
  tokens: TokenAnalyticsAnswer,
  cache: CacheAnalyticsAnswer,
  retries: RetryAnalyticsAnswer,
  durations: DurationAnalyticsAnswer,
  failures: FailureAnalyticsAnswer,
};

export type AnalyticsAnswer =
  | ItemAnalyticsAnswer
  | CostAnalyticsAnswer
  | TokenAnalyticsAnswer
  | CacheAnalyticsAnswer
  | RetryAnalyticsAnswer
  | DurationAnalyticsAnswer
  | FailureAnalyticsAnswer;

/** The call for figures of one kind, the same for a tenant's key and an operator's. */
export function analyticsCall(client: Client) {
  return (kind: AnalyticsKind, query: Query): Promise<AnalyticsAnswer> =>
    client.get(`/v1/analytics/${kind}`, ANSWERS[kind], query);
}
