import { itemStateCode } from '../domain/item-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import type { Provider } from '../domain/provider.ts';
import type { UsageKind } from '../domain/usage-kind.ts';
import {
  CORRECTION_AMOUNT,
  CORRECTION_CUSTOMER_AMOUNT,
  CORRECTION_IS_LATE,
  CORRECTION_KIND,
  concerns,
  IS_CORRECTION,
} from './usage-corrections.ts';
import { windowCondition } from './usage-window.ts';

/**
 * SQL of every movement of money of the jobs in `jobs` (of `batch_jobs`, with its columns) in a window: charges with what
 * was used, refunds and adjustments with nothing used. The window's four parameters are from `$window` on.
 */
export function movements(jobs: string, window: number, isCustomer: string): string {
  const job =
    'j.job_id, j.kind AS job_kind, j.tenant_id, j.project_id, j.customer_id, j.api_key_id, j.endpoint, j.currency';
  return `
    SELECT ${job}, 'charge' AS kind, o.settled_at AS at, o.written_by, s.provider, o.model, o.state, o.usage_estimated,
      o.input_tokens, o.cached_input_tokens, o.cache_write_tokens, o.output_tokens, o.reasoning_tokens, o.amount,
      CASE WHEN j.customer_id IS NOT NULL THEN coalesce(o.customer_amount, o.amount) END AS customer_amount,
      false AS is_late
    FROM ${jobs} j
    JOIN item_outcomes o ON o.bucket = j.bucket AND o.job_id = j.job_id AND ${windowCondition('o.settled_at', 'o.written_by', window)}
    LEFT JOIN batch_shards s ON s.job_id = o.job_id AND s.shard = o.shard
    UNION ALL
    SELECT ${job}, ${CORRECTION_KIND}, e.created_at, e.written_by, s.provider, coalesce(o.model, ''), NULL, false,
      0, 0, 0, 0, 0, ${CORRECTION_AMOUNT}, ${CORRECTION_CUSTOMER_AMOUNT},
      ${CORRECTION_IS_LATE}
    FROM ${jobs} j
    JOIN ledger_entries e ON e.bucket = j.bucket AND e.subject_id = j.job_id AND ${IS_CORRECTION}
      AND ${concerns(isCustomer)} AND ${windowCondition('e.created_at', 'e.written_by', window)}
    LEFT JOIN item_outcomes o ON o.bucket = j.bucket AND o.job_id = j.job_id AND o.item_no = e.item_no AND e.item_no > 0
    LEFT JOIN batch_shards s ON s.job_id = o.job_id AND s.shard = o.shard`;
}

/** Of `movements` as m, grouped by at least the currency. */
export const SUM_COLUMNS = `
  min(m.currency) AS currency, count(*)::int AS entries, count(m.state)::int AS items,
  count(*) FILTER (WHERE m.state = ${itemStateCode('completed')})::int AS completed,
  count(*) FILTER (WHERE m.state = ${itemStateCode('failed')})::int AS failed,
  count(*) FILTER (WHERE m.state = ${itemStateCode('expired')})::int AS expired,
  count(*) FILTER (WHERE m.state = ${itemStateCode('cancelled')})::int AS cancelled,
  count(*) FILTER (WHERE m.usage_estimated)::int AS usage_estimated_items,
  sum(m.input_tokens) AS input_tokens, sum(m.cached_input_tokens) AS cached_input_tokens,
  sum(m.cache_write_tokens) AS cache_write_tokens, sum(m.output_tokens) AS output_tokens,
  sum(m.reasoning_tokens) AS reasoning_tokens, sum(m.amount) AS amount, sum(m.customer_amount) AS customer_amount`;

/** The day of a movement. */
export const DAY = "to_char(m.at AT TIME ZONE 'UTC', 'YYYY-MM-DD')";

/** What pg gives for SUM_COLUMNS. */
export interface SumRow {
  readonly currency: string;
  readonly entries: number;
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
  readonly customer_amount: string | null;
}

export interface UsageSums {
  readonly currency: string;
  /** How many movements were summed: it only ever grows. */
  readonly entries: number;
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
  /** Of jobs that have a customer, in its prices; null where none has. */
  readonly customerAmount: Amount | null;
}

/** What a job used of one model on one day, or what was corrected of that. */
export interface JobUsageRecord extends UsageSums {
  readonly jobUuid: string;
  readonly kind: UsageKind;
  /** YYYY-MM-DD, in UTC. */
  readonly day: string;
  readonly provider: Provider | null;
  readonly model: string;
  /** Corrections dated in a later month than what they correct; they are a record of their own. */
  readonly isLate: boolean;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export function toUsageSums(row: SumRow): UsageSums {
  return {
    currency: row.currency,
    entries: row.entries,
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
    customerAmount: row.customer_amount === null ? null : parseNumeric(row.customer_amount),
  };
}
