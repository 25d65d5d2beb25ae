import { hash } from 'node:crypto';
import type { ItemUsageRecord, JobUsage, UsageGroupSum } from '../../contracts/usage-record.ts';
import type { ItemCharge } from '../../db/item-usage.ts';
import type { UsageGroupRecord } from '../../db/usage.ts';
import type { UsageCorrection } from '../../db/usage-corrections.ts';
import type { UsageJob } from '../../db/usage-jobs.ts';
import type { JobUsageRecord, UsageSums } from '../../db/usage-rows.ts';
import { type Amount, formatAmount } from '../../domain/money.ts';
import { presentHash } from './hash.ts';
import { gatewayDeletion, presentRaw } from './job-storage.ts';
import { presentTime } from './time.ts';

/** Who reads: a customer’s own key is shown its own prices alone. */
export interface UsageView {
  readonly isCustomer: boolean;
}

export function presentJobUsage(job: UsageJob, record: JobUsageRecord, view: UsageView): JobUsage {
  const { kind, day, provider, model, isLate } = record;
  const target = hash('sha256', JSON.stringify([provider, model, isLate])).slice(0, 16);
  return {
    record_id: `${job.jobId}.${kind}.${day}.${target}`,
    version: record.entries,
    kind,
    day,
    ...presentOwner(job),
    provider,
    model,
    price_book_version: job.priceBookVersion,
    status: job.state,
    ...presentSums(record, view),
    first_settled_at: record.firstAt.toISOString(),
    last_settled_at: record.lastAt.toISOString(),
    ...presentKeeping(job, job.providerDeadline),
  };
}

export function presentUsageGroup(record: UsageGroupRecord, view: UsageView): UsageGroupSum {
  return { group: record.group, ...presentSums(record, view) };
}

export function presentItemCharge(job: UsageJob, item: ItemCharge, view: UsageView): ItemUsageRecord {
  return {
    record_id: `${item.itemId}.charge`,
    version: 1,
    kind: 'charge',
    day: dayOf(item.settledAt),
    ...presentOwner(job),
    provider: item.provider,
    model: item.model,
    price_book_version: job.priceBookVersion,
    item_id: item.itemId,
    custom_id: item.customId,
    status: item.status,
    input_tokens: item.usage.inputTokens,
    cached_input_tokens: item.usage.cachedInputTokens,
    cache_write_tokens: item.usage.cacheWriteTokens,
    output_tokens: item.usage.outputTokens,
    reasoning_tokens: item.usage.reasoningTokens,
    usage_estimated: item.usage.estimated,
    ...presentMoney(item.amount, item.customerAmount, job.currency, view),
    settled_at: item.settledAt.toISOString(),
    request_hash: presentHash(item.requestHash),
    response_hash: item.responseHash === null ? null : presentHash(item.responseHash),
    ...presentKeeping(job, item.providerDeadline ?? job.providerDeadline),
  };
}

/** A correction is a record of its own, so that what was exported of the charge stays as it is. */
export function presentCorrection(job: UsageJob, correction: UsageCorrection, view: UsageView): ItemUsageRecord {
  const { kind, itemId, ordinal } = correction;
  return {
    record_id: `${itemId ?? job.jobId}.${kind}.${ordinal}`,
    version: 1,
    kind,
    day: dayOf(correction.at),
    ...presentOwner(job),
    provider: correction.provider,
    model: correction.model,
    price_book_version: job.priceBookVersion,
    item_id: itemId,
    custom_id: correction.customId,
    status: correction.status,
    input_tokens: 0,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    usage_estimated: false,
    ...presentMoney(correction.amount, correction.customerAmount, job.currency, view),
    settled_at: correction.at.toISOString(),
    request_hash: null,
    response_hash: null,
    ...presentKeeping(job, job.providerDeadline),
  };
}

function presentOwner(job: UsageJob) {
  return {
    job_id: job.jobId,
    job_kind: job.kind,
    tenant_id: job.tenantId,
    project_id: job.projectId,
    customer_id: job.customerId,
    api_key_id: job.apiKeyId,
    endpoint: job.endpoint,
  };
}

function presentKeeping(job: UsageJob, providerDeadline: Date | null) {
  return {
    retrieval_deadline: presentTime(job.retrievalDeadline),
    provider_deadline: presentTime(providerDeadline),
    deletion_deadline: presentTime(gatewayDeletion(job)),
    storage: job.terms.storage,
    ...presentRaw(job),
    request_body_deleted_at: presentTime(job.requestBodyDeletedAt),
  };
}

function presentMoney(amount: Amount, customerAmount: Amount | null, currency: string, { isCustomer }: UsageView) {
  return {
    cost: formatAmount(isCustomer ? (customerAmount ?? amount) : amount),
    upstream_amount: isCustomer ? null : formatAmount(amount),
    customer_amount: customerAmount === null ? null : formatAmount(customerAmount),
    currency,
  };
}

function presentSums(sums: UsageSums, view: UsageView) {
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
    ...presentMoney(sums.amount, sums.customerAmount, sums.currency, view),
  };
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
