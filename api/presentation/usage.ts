import type { ItemUsageRecord, JobUsage, UsageGroupSum } from '../../contracts/usage-record.ts';
import type { ItemUsageRecord as StoredItemUsage } from '../../db/item-usage.ts';
import type { JobRecord } from '../../db/job-view.ts';
import type { UsageGroupRecord } from '../../db/usage.ts';
import type { JobUsageRecord, UsageSums } from '../../db/usage-rows.ts';
import { formatAmount } from '../../domain/money.ts';

export function presentJobUsage(record: JobUsageRecord): JobUsage {
  return {
    job_id: record.jobId,
    tenant_id: record.tenantId,
    project_id: record.projectId,
    customer_id: record.customerId,
    api_key_id: record.apiKeyId,
    endpoint: record.endpoint,
    status: record.state,
    provider: record.provider,
    model: record.model,
    ...presentSums(record),
    first_settled_at: record.firstSettledAt.toISOString(),
    last_settled_at: record.lastSettledAt.toISOString(),
  };
}

export function presentUsageGroup(record: UsageGroupRecord): UsageGroupSum {
  return { group: record.group, ...presentSums(record) };
}

export function presentItemUsage(job: JobRecord, item: StoredItemUsage): ItemUsageRecord {
  return {
    job_id: job.jobId,
    tenant_id: job.tenantId,
    project_id: job.projectId,
    customer_id: job.customerId,
    api_key_id: job.apiKeyId,
    endpoint: job.endpoint,
    item_id: item.itemId,
    custom_id: item.customId,
    status: item.status,
    provider: item.provider,
    model: item.model,
    input_tokens: item.usage.inputTokens,
    cached_input_tokens: item.usage.cachedInputTokens,
    cache_write_tokens: item.usage.cacheWriteTokens,
    output_tokens: item.usage.outputTokens,
    reasoning_tokens: item.usage.reasoningTokens,
    usage_estimated: item.usage.estimated,
    cost: formatAmount(item.amount),
    currency: job.currency,
    settled_at: item.settledAt.toISOString(),
  };
}

function presentSums(sums: UsageSums) {
  return {
    items: sums.items,
    completed: sums.completed,
    failed: sums.failed,
    expired: sums.expired,
    cancelled: sums.cancelled,
    input_tokens: sums.inputTokens,
    cached_input_tokens: sums.cachedInputTokens,
    cache_write_tokens: sums.cacheWriteTokens,
    output_tokens: sums.outputTokens,
    reasoning_tokens: sums.reasoningTokens,
    usage_estimated_items: sums.usageEstimatedItems,
    cost: formatAmount(sums.amount),
    currency: sums.currency,
  };
}
