import { itemStateCode } from '../domain/item-state.ts';
import type { JobState } from '../domain/job-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import type { Endpoint, Provider } from '../domain/provider.ts';

/** Of `item_outcomes` o and `batch_jobs` j, grouped by at least the currency. */
export const SUM_COLUMNS = `
  min(j.currency) AS currency, count(*)::int AS items,
  count(*) FILTER (WHERE o.state = ${itemStateCode('completed')})::int AS completed,
  count(*) FILTER (WHERE o.state = ${itemStateCode('failed')})::int AS failed,
  count(*) FILTER (WHERE o.state = ${itemStateCode('expired')})::int AS expired,
  count(*) FILTER (WHERE o.state = ${itemStateCode('cancelled')})::int AS cancelled,
  count(*) FILTER (WHERE o.usage_estimated)::int AS usage_estimated_items,
  sum(o.input_tokens) AS input_tokens, sum(o.cached_input_tokens) AS cached_input_tokens,
  sum(o.cache_write_tokens) AS cache_write_tokens, sum(o.output_tokens) AS output_tokens,
  sum(o.reasoning_tokens) AS reasoning_tokens, sum(o.amount) AS amount`;

/** What pg gives for SUM_COLUMNS. */
export interface SumRow {
  readonly currency: string;
  readonly items: number;
  readonly completed: number;
  readonly failed: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly usage_estimated_items: number;
  readonly input_tokens: string;
  readonly cached_input_tokens: string;
  readonly cache_write_tokens: string;
  readonly output_tokens: string;
  readonly reasoning_tokens: string;
  readonly amount: string;
}

export interface UsageSums {
  readonly currency: string;
  readonly items: number;
  readonly completed: number;
  readonly failed: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly usageEstimatedItems: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly amount: Amount;
}

export interface JobUsageRecord extends UsageSums {
  readonly jobId: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly apiKeyId: string;
  readonly endpoint: Endpoint;
  readonly state: JobState;
  readonly provider: Provider | null;
  readonly model: string;
  readonly firstSettledAt: Date;
  readonly lastSettledAt: Date;
}

export function toUsageSums(row: SumRow): UsageSums {
  return {
    currency: row.currency,
    items: row.items,
    completed: row.completed,
    failed: row.failed,
    expired: row.expired,
    cancelled: row.cancelled,
    usageEstimatedItems: row.usage_estimated_items,
    inputTokens: Number(row.input_tokens),
    cachedInputTokens: Number(row.cached_input_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    outputTokens: Number(row.output_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    amount: parseNumeric(row.amount),
  };
}
