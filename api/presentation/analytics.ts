import type {
  CacheAnalyticsAnswer,
  CostAnalyticsAnswer,
  DurationAnalyticsAnswer,
  FailureAnalyticsAnswer,
  ItemAnalyticsAnswer,
  RetryAnalyticsAnswer,
  TokenAnalyticsAnswer,
} from '../../contracts/analytics.ts';
import type { CostSums, ItemCounts, RetryCounts, StageDurations, TokenSums } from '../../db/analytics.ts';
import type { FailureCount, RefusalCount } from '../../db/analytics-failures.ts';
import { FAILURE_CLASSES } from '../../domain/failure.ts';
import { formatAmount } from '../../domain/money.ts';
import { ratioOf } from '../../domain/ratio.ts';

export function presentItems(counts: ItemCounts): ItemAnalyticsAnswer['data'][number] {
  const { group, completed, failed, expired, cancelled, pending, retries } = counts;
  const total = completed + failed + expired + cancelled + pending;
  return { group, completed, failed, expired, cancelled, pending, total, retries };
}

export function presentCosts(sums: CostSums): CostAnalyticsAnswer['data'][number] {
  const error = sums.endedSettled - sums.estimated;
  return {
    group: sums.group,
    currency: sums.currency,
    settled: formatAmount(sums.settled),
    refunded: formatAmount(sums.refunded),
    adjusted: formatAmount(sums.adjusted),
    held: formatAmount(sums.held),
    ended_jobs: sums.endedJobs,
    estimated: formatAmount(sums.estimated),
    ended_settled: formatAmount(sums.endedSettled),
    error: formatAmount(error),
    error_ratio: ratioOf(error, sums.estimated),
  };
}

export function presentTokens(sums: TokenSums): TokenAnalyticsAnswer['data'][number] {
  return sums;
}

export function presentCache(sums: TokenSums): CacheAnalyticsAnswer['data'][number] {
  const { group, input_tokens, cached_input_tokens, cache_write_tokens } = sums;
  const hit_rate = ratioOf(BigInt(cached_input_tokens), BigInt(input_tokens));
  return { group, input_tokens, cached_input_tokens, cache_write_tokens, hit_rate };
}

export function presentRetries(counts: RetryCounts): RetryAnalyticsAnswer['data'][number] {
  return { ...counts, success_rate: ratioOf(BigInt(counts.completed), BigInt(counts.retries)) };
}

export function presentDurations(times: StageDurations): DurationAnalyticsAnswer['data'][number] {
  return {
    group: times.group,
    ended: times.ended,
    queued: { mean_ms: times.queued_mean, p95_ms: times.queued_p95 },
    running: { mean_ms: times.running_mean, p95_ms: times.running_p95 },
    finalizing: { mean_ms: times.finalizing_mean, p95_ms: times.finalizing_p95 },
  };
}

/** Throws for a class that no failure has: what is stored was checked. */
export function presentFailure({
  group,
  failureClass,
  code,
  items,
}: FailureCount): FailureAnalyticsAnswer['data'][number] {
  const known = FAILURE_CLASSES.find((name) => name === failureClass);
  if (known === undefined) throw new Error(`no failure has the class ${failureClass}`);
  return { group, class: known, code, items };
}

export function presentRefusal(count: RefusalCount): FailureAnalyticsAnswer['refusals'][number] {
  return count;
}
